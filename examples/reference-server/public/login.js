// Shows or hides the password at each press of the button. Without this script there is no button, and everything else works.

const password = document.getElementById('password');
const reveal = document.getElementById('reveal');

function show(isShown) {
  password.type = isShown ? 'text' : 'password';
  reveal.setAttribute('aria-pressed', String(isShown));
}

reveal.hidden = false;
reveal.addEventListener('click', () => show(password.type === 'password'));
// Browsers keep what was typed into a text field, and offer it again.
password.form.addEventListener('submit', () => show(false));
