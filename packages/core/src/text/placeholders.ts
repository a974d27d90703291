/** A placeholder of a text: a name in braces. */
export const holes = /\{(\w+)\}/;

/** Returns the names of the placeholders of a text in alphabetical order. */
export function holesOf(template: string): string[] {
  return [...template.matchAll(new RegExp(holes, 'g'))].map(([, name = '']) => name).sort();
}
