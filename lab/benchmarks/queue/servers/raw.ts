// The physical limit: only the requests, without a queue or a database. Each is signed when it is sent, as
// for all contestants.
import { obey, settings } from '../../../support/processes/control.ts';
import { bodyOf, eventId, inFlight } from '../fixture.ts';
import { postAll } from './post.ts';

const { sink } = settings<{ readonly sink: number }>();
let posted = 0;

obey({
  async post(count: number) {
    const jobs = Array.from({ length: count }, () => {
      posted += 1;
      const id = eventId(posted);
      return { id, body: bodyOf(id) };
    });
    await postAll(`http://127.0.0.1:${sink}/hook`, jobs, inFlight);
  },
});
