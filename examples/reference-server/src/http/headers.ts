/** Headers of every page. */
export type Headers = Readonly<Record<string, string>>;

/**
 * No script, no frame, nothing from elsewhere. There is no `form-action` on purpose: browsers apply it to the redirects
 * after a form too, and the way back to an app would end here, silently. The referrer policy is `same-origin` because
 * `no-referrer` makes browsers send `Origin: null` with our own forms.
 */
export function pageHeaders(authUrl: string, styleHash: string): Headers {
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      `style-src '${styleHash}'`,
      "img-src 'self' data:",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
    'Cache-Control': 'no-store',
    Vary: 'Accept-Language, Cookie',
    ...(authUrl.startsWith('https:') && { 'Strict-Transport-Security': 'max-age=31536000' }),
  };
}
