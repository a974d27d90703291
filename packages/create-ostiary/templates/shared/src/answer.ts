/** Response of a page or an endpoint. The server converts it to a response of its framework. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Body of the response; `null` if it has none. */
  readonly body: string | null;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Escapes a text for use in HTML, between tags and between double quotes. */
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => escapes[sign] ?? sign);

/** Makes an HTML page that other sites cannot frame, and that loads nothing. */
export function page(title: string, body: string, status = 200, cookie?: string): Answer {
  return {
    status,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
      // No `form-action`: after the login form the browser is redirected to the app, which Chromium would
      // block.
      'Content-Security-Policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
      'Referrer-Policy': 'same-origin',
      // Lets a sign-in in a popup keep the reference to the window that opened it.
      'Cross-Origin-Opener-Policy': 'unsafe-none',
      'X-Content-Type-Options': 'nosniff',
      ...(cookie !== undefined && { 'Set-Cookie': cookie }),
    },
    body: `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 24rem; margin: 4rem auto; padding: 0 1rem }
label, input, button { display: block; font: inherit; width: 100%; box-sizing: border-box; margin-top: .5rem; padding: .3rem }</style>
<h1>${escaped(title)}</h1>${body}</html>`,
  };
}
