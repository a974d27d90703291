// Sign-in without a server and without a library: a public client with PKCE (RFC 7636) and plain fetch.

const page = document.getElementById('spa');
const { authUrl, baseUrl, clientId, redirectUri } = page.dataset;
const timeout = () => AbortSignal.timeout(10_000);

/** The only place where the token is: not in storage, where any script of this origin could find it later. */
let accessToken = null;

const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
const sha256 = (text) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));

async function begin(scopes) {
  const state = random();
  const verifier = random();
  // State and verifier must survive the way to the consent screen and back, in this tab only.
  sessionStorage.setItem('sign-in', JSON.stringify({ state, verifier }));
  const url = new URL('/oauth/authorize', authUrl);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopes.join(' '),
    state,
    code_challenge: base64url(await sha256(verifier)),
    code_challenge_method: 'S256',
  });
  location.assign(url);
}

async function call(path, init) {
  const response = await fetch(new URL(path, baseUrl), { ...init, redirect: 'error', signal: timeout() });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${answer.error}: ${answer.error_description ?? response.status}`);
  return answer;
}

const post = (path, body) =>
  call(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

async function finish(query) {
  const pending = JSON.parse(sessionStorage.getItem('sign-in') ?? 'null');
  sessionStorage.removeItem('sign-in');
  if (pending === null || query.get('state') !== pending.state) {
    throw new Error('wrong_state: this answer does not belong to a sign-in of this tab');
  }
  if (query.get('iss') !== authUrl) throw new Error('wrong_issuer: the answer comes from somebody else');
  if (query.has('error')) throw new Error(`${query.get('error')}: ${query.get('error_description') ?? ''}`);
  const answer = await post('/v1/oauth/token', {
    grant_type: 'authorization_code',
    code: query.get('code'),
    redirect_uri: redirectUri,
    client_id: clientId,
    code_verifier: pending.verifier,
  });
  accessToken = answer.access_token;
}

async function read() {
  const identity = await call('/v1/oauth/userinfo', { headers: { Authorization: `Bearer ${accessToken}` } });
  const rows = Object.entries(identity).map(([field, value]) => {
    const row = document.createElement('div');
    row.dataset.field = field;
    const name = document.createElement('dt');
    name.textContent = field;
    const text = document.createElement('dd');
    text.textContent = Array.isArray(value)
      ? value.map(({ type }) => type).join(', ')
      : String(value ?? 'none');
    row.append(name, text);
    return row;
  });
  document.getElementById('fields').replaceChildren(...rows);
  document.getElementById('sign-in').hidden = true;
  document.getElementById('signed-in').hidden = false;
}

function say(text, kind) {
  const message = document.getElementById('message');
  message.textContent = text;
  message.className = `notice ${kind}`;
  message.hidden = false;
}

/** Runs a step and says how it ended. */
async function attempt(step, success) {
  try {
    await step();
    if (success !== undefined) say(success, 'good');
  } catch (error) {
    say(error instanceof Error ? error.message : 'failed', 'bad');
  }
}

document.getElementById('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  attempt(() => begin(new FormData(event.target).getAll('scope')));
});
document
  .getElementById('read')
  .addEventListener('click', () => attempt(read, 'Read again: the token is alive.'));
document
  .getElementById('revoke')
  .addEventListener('click', () =>
    attempt(
      () => post('/v1/oauth/revoke', { token: accessToken }),
      'Revoked. Read again to see that the token is dead.',
    ),
  );

const query = new URLSearchParams(location.search);
if (query.has('state')) {
  // The code must not stay in the address, the history, or a bookmark.
  history.replaceState(null, '', location.pathname);
  attempt(async () => {
    await finish(query);
    await read();
  });
}
