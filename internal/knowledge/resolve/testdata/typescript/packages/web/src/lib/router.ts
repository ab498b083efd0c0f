import type { View } from "@views/view";

export class Router {
  private routes = new Map<string, View>();

  add(path: string, view: View): Router {
    this.routes.set(path, view);
    return this;
  }

  match(path: string): View {
    return this.routes.get(path) ?? this.fallback();
  }

  private fallback(): View {
    throw new NotFound(path());
  }

  go(path: string): string {
    const view = this.match(path);
    view.mount();
    return view.render();
  }
}

export class NotFound extends Error {}

function path(): string {
  return window.location.pathname;
}

export const router = new Router();
