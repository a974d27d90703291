/**
 * Merges the metrics of several processes into one page. The name of the process becomes the label `process`.
 * Prometheus requires all lines of a metric after one HELP and one TYPE.
 */
export function together(pages: readonly (readonly [name: string, page: string])[]): string {
  const metrics = new Map<string, string>();
  for (const [name, page] of pages) {
    for (const [, head = '', lines = ''] of page.matchAll(/((?:^#.*\n)+)((?:^[^#].*\n)+)/gm)) {
      const labelled = lines.replace(/^(\w+)(\{?)/gm, (_, metric: string, more: string) =>
        more === '' ? `${metric}{process="${name}"}` : `${metric}{process="${name}",`,
      );
      metrics.set(head, (metrics.get(head) ?? '') + labelled);
    }
  }
  return [...metrics].flat().join('');
}
