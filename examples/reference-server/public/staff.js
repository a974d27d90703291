// Makes passkeys and signs in with them. Without this script, or in a browser without passkeys, the form for them stays
// hidden, and password and code do the same.

const form = document.getElementById('passkey');
const problem = document.getElementById('passkey-problem');
const api = window.PublicKeyCredential;

async function credentialOf({ kind, options }) {
  const parsed = JSON.parse(options);
  if (kind === 'create')
    return navigator.credentials.create({ publicKey: api.parseCreationOptionsFromJSON(parsed) });
  return navigator.credentials.get({ publicKey: api.parseRequestOptionsFromJSON(parsed) });
}

async function submit(event) {
  event.preventDefault();
  problem.hidden = true;
  try {
    const credential = await credentialOf(form.dataset);
    form.elements.credential.value = JSON.stringify(credential.toJSON());
  } catch {
    problem.hidden = false;
    return;
  }
  // Calling `submit` sends the form without this event.
  form.submit();
}

if (form !== null && api?.parseRequestOptionsFromJSON !== undefined) {
  form.hidden = false;
  form.addEventListener('submit', submit);
}
