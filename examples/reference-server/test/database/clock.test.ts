import { expect, test } from 'vitest';
import { sharedClock } from '../../src/database/clock.ts';
import { onBothEngines } from '../support/engines.ts';

const hour = 3_600_000;

onBothEngines('the clock', (engine) => {
  test('is that of the database where machines share one', async () => {
    const { database } = await engine.open();
    let wrongBy = -hour;
    const clock = await sharedClock(database, () => Date.now() + wrongBy, 20);
    const isRight = () => Math.abs(clock.now() - Date.now()) < hour / 2;
    expect(isRight()).toBe(engine.name === 'PostgreSQL');
    expect(Number.isInteger(clock.now())).toBe(true);
    // Somebody sets the clock of the machine.
    wrongBy = 2 * hour;
    await expect.poll(isRight).toBe(engine.name === 'PostgreSQL');
    // While the database is gone it goes on.
    await database.close();
    expect(isRight()).toBe(engine.name === 'PostgreSQL');
    clock.stop();
  });
});
