export function h(tag: string, ...children: (string | Element)[]): string {
  return `<${tag}>${children.map(text).join("")}</${tag}>`;
}

export const text = (value: unknown): string => escape(String(value));

export function escape(value: string): string {
  return value.replace(/</g, "&lt;");
}

const render = {
  page(title: string, body: string): string {
    return h("html", this.head(title), body);
  },
  head(title: string): string {
    return h("title", title);
  },
};

export default render;
