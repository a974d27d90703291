/**
 * Content security policy of a page: no script, no frame, no external resource, and this style sheet. There
 * is no `form-action` on purpose: browsers apply it to the redirects after a form too, and the way back to an
 * app would end here, silently.
 *
 * @param more - additional directives of this page, such as `script-src 'self'`
 */
export function contentPolicy(styleHash: string, ...more: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src '${styleHash}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...more,
  ].join('; ');
}
