/** Members that hold secrets, and those that tell who a person is: of the scheme of users and of what partners send. */
const removedMembers = new Set([
  ...['secret', 'token', 'signingSecret', 'apiKey', 'password', 'authorization'],
  ...['name', 'handle', 'avatarUrl', 'phone', 'phoneNumber', 'email', 'address'],
]);

const removed = '[removed]';

/** A JSON Web Token, wherever it stands. */
const jwt = /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g;

/** How much of a body is kept, in characters. */
const maxLength = 8 * 1024;

/**
 * What a log may keep of bodies.
 * @param prefix - what tokens and keys of the service begin with
 * @returns a function that answers the JSON without secrets and personal data, cut to 8 KiB; `null` for what is no JSON. What
 * an error blames (paths such as `events.0`) goes too: it may be anything, such as a secret in the wrong place
 */
export function bodyRedaction(prefix: string) {
  const ownSecrets = new RegExp(`\\b${prefix}_(?:live|test|at|rt)_[\\w-]+`, 'g');

  function kept(value: unknown, path: string, blamed: ReadonlySet<string>): unknown {
    if (blamed.has(path)) return removed;
    if (typeof value === 'string') return value.replaceAll(jwt, removed).replaceAll(ownSecrets, removed);
    if (typeof value !== 'object' || value === null) return value;
    const inner = (name: string | number, member: unknown): unknown =>
      kept(member, path === '' ? String(name) : `${path}.${name}`, blamed);
    if (Array.isArray(value)) return value.map((item, index) => inner(index, item));
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        removedMembers.has(name) && member !== null ? removed : inner(name, member),
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
