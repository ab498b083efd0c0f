import page, { h, text } from "@lib/html";

export abstract class View {
  protected parts: string[] = [];

  mount(): void {
    this.parts = [];
    this.load();
  }

  protected load(): void {}

  abstract body(): string;

  render(): string {
    return page.page(this.title(), h("main", this.body()));
  }

  title(): string {
    return text(this.constructor.name);
  }
}
