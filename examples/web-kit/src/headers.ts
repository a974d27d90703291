/**
 * Makes the Content-Security-Policy of a page: no script, no frame, no external resource, and only the given
 * style sheet. The policy has no `form-action`: browsers also apply this directive to redirects after a form,
 * and would silently block the way back to an app.
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
