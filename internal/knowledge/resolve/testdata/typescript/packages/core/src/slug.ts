const cache = new Map<string, string>();

export default function slugify(text: string): string {
  const known = cache.get(text);
  if (known) return known;
  const slug = clean(text.toLowerCase());
  cache.set(text, slug);
  return slug;
}

function clean(text: string): string {
  return text.replace(/[^a-z0-9]+/g, "-");
}
