/**
 * How the names of members end that hold secrets, or tell who a person is: of the scheme of users, and what partners call them.
 * Compared without case and without what is no letter: `client_secret`, `X-Api-Key`, `legalName`.
 */
const removedEndings = [
  ...['secret', 'token', 'apikey', 'password', 'authorization', 'passport'],
  ...['name', 'handle', 'avatarurl', 'phone', 'phonenumber', 'email', 'address'],
];

const isRemoved = (name: string): boolean => {
  const letters = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  return removedEndings.some((ending) => letters.endsWith(ending) || letters.endsWith(`${ending}s`));
};

const removed = '[removed]';

/** What a JSON Web Token is made of; each run is looked at once, however it was made to look like the beginning of many. */
const tokenRuns = /[\w.-]+/g;

const withoutTokens = (run: string): string =>
  run.includes('eyJ') && run.split('.').length > 2 ? removed : run;

/** How much of a body is kept, in characters. */
const maxLength = 8 * 1024;

/**
 * What a log may keep of bodies.
 * @param prefix - what tokens and keys of the service begin with
 * @returns a function that answers the JSON without secrets and personal data, cut to 8 KiB; `null` for what is no JSON. What
 * an error blames (paths such as `events.0`) goes too: it may be anything, such as a secret in the wrong place
 */
export function bodyRedaction(prefix: string) {
  const secrets = new RegExp(`(?:${prefix}_(?:live|test|at|rt)|whsec)_[\\w-]+`, 'g');

  const cleaned = (text: string): string =>
    text.replaceAll(tokenRuns, withoutTokens).replaceAll(secrets, removed);

  function kept(value: unknown, path: string, blamed: ReadonlySet<string>): unknown {
    if (blamed.has(path)) return removed;
    if (typeof value === 'string') return cleaned(value);
    if (typeof value !== 'object' || value === null) return value;
    const inner = (name: string | number, member: unknown): unknown =>
      kept(member, path === '' ? String(name) : `${path}.${name}`, blamed);
    if (Array.isArray(value)) return value.map((item, index) => inner(index, item));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        cleaned(name),
        isRemoved(name) && member !== null ? removed : inner(name, member),
      ]),
    );
  }

  return (body: string, blamed: readonly string[] = []): string | null => {
    try {
      const whole = JSON.stringify(kept(JSON.parse(body), '', new Set(blamed)));
      return whole.slice(0, maxLength).toWellFormed();
    } catch {
      // Whatever it is, nobody can say what is secret in it.
      return null;
    }
  };
}
