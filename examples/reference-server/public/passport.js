// Counts down on the passport page, and says when the passport ends in the zone of the reader. Without this script the page
// says it in UTC, and everything else works.

const passport = document.getElementById('passport');
const countdown = document.getElementById('countdown');
const ended = document.getElementById('ended');
const until = document.getElementById('until');
const { lifetime, remaining, ended: endedText } = passport.dataset;

// Measured from now and not by the clock of this device, which may be wrong.
const end = performance.now() + Number(lifetime);

function show() {
  const seconds = Math.max(0, Math.ceil((end - performance.now()) / 1000));
  const text = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  countdown.textContent = `${remaining} ${text}`;
  if (seconds > 0) return;
  clearInterval(timer);
  passport.classList.add('over');
  countdown.hidden = true;
  ended.hidden = false;
  ended.textContent = endedText;
}

const timer = setInterval(show, 250);
countdown.hidden = false;
show();

until.textContent = new Date(until.dateTime).toLocaleTimeString([document.documentElement.lang, 'fr'], {
  hour: 'numeric',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
