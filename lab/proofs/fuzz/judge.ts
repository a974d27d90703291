import { oauthErrors } from '@ostiary/core';

/** A response of the fuzzed application. */
interface Answer {
  /** Origin of the fuzzed application. */
  readonly origin: string;
  readonly status: number;
  readonly location: string | null;
  readonly cacheControl: string | null;
  readonly text: string;
}

/** Further HTTP statuses that are documented for an error code, besides its usual one. */
const otherStatuses: { readonly [code: string]: readonly number[] } = {
  invalid_request: [405, 408, 413, 415],
  invalid_dpop_proof: [401],
  invalid_token: [401],
};

/** Characters that an error description may have (RFC 6749, section 5.2). */
const descriptionText = /^[\x20\x21\x23-\x5B\x5D-\x7E]+$/;

function errorProblem(error: unknown, description: unknown): string | null {
  if (typeof error !== 'string' || !Object.hasOwn(oauthErrors, error)) return `undocumented error ${error}`;
  if (typeof description !== 'string' || !descriptionText.test(description))
    return `error_description ${JSON.stringify(description)}`;
  return null;
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Checks a JSON response. Returns the problem; `null` if the response is a success or a documented error. */
function jsonProblem({ status, text, cacheControl }: Answer): string | null {
  if (status === 200 && text === '') return null;
  const body = parsed(text);
  if (body === null) return 'the body is no JSON object';
  if (cacheControl?.includes('no-store') !== true) return `Cache-Control is ${cacheControl}`;
  if (status === 200 || status === 201) return 'error' in body ? 'a success with an error' : null;
  if (Object.keys(body).join(' ') !== 'error error_description') return 'the body has other members';
  const { error, error_description: description } = body as { error: unknown; error_description: unknown };
  const problem = errorProblem(error, description);
  if (problem !== null) return problem;
  const statuses = [
    oauthErrors[error as keyof typeof oauthErrors].status,
    ...(otherStatuses[String(error)] ?? []),
  ];
  return statuses.includes(status) ? null : `${error} has status ${status}`;
}

/**
 * Returns the problem of a redirect; `null` if the redirect leads to the login, to the consent page, or to
 * the app with a code or a documented error.
 */
function redirectProblem({ location, origin }: Answer): string | null {
  const url = URL.parse(location ?? '', origin);
  if (url === null) return `redirects to ${location}`;
  if (url.origin === origin)
    return /^\/(?:oauth\/interaction\/|login$)/.test(url.pathname) ? null : `redirects to ${location}`;
  if (url.pathname !== '/callback') return `redirects to ${location}`;
  const { searchParams } = url;
  if (searchParams.get('state') !== 's') return 'the state is missing';
  if (searchParams.has('code')) return null;
  return errorProblem(searchParams.get('error'), searchParams.get('error_description'));
}

/** A function that judges a response. Returns the problem, or `null`. */
export type Kind = (answer: Answer) => string | null;

/** Checks for an HTTP status that means a defect, or a server that cannot respond. */
const isServerError = ({ status }: Answer): boolean => status >= 500;

/** Functions that judge responses, by endpoint. */
export const kinds = {
  json: (answer) => (isServerError(answer) ? `status ${answer.status}` : jsonProblem(answer)),
  authorize(answer) {
    if (isServerError(answer)) return `status ${answer.status}`;
    return answer.status === 303 ? redirectProblem(answer) : jsonProblem(answer);
  },
} as const satisfies { readonly [name: string]: Kind };
