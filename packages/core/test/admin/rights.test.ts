import { expect, it } from 'vitest';
import { operatorRights, operatorRoles, requireRight, rightFor } from '../../src/admin/rights.ts';

it('each role may do what the smaller ones may, and an owner everything', () => {
  const { viewer, support, admin, owner } = operatorRoles;
  expect(viewer).toEqual([]);
  for (const [smaller, larger] of [
    [viewer, support],
    [support, admin],
    [admin, owner],
  ] as const)
    expect(larger).toEqual(expect.arrayContaining([...smaller]));
  expect(owner).toEqual(operatorRights);
  expect(admin).not.toContain('service');
});

it('an operator without a right is refused with a page, and the right is named', () => {
  for (const right of operatorRights) {
    expect(() => requireRight([right], right)).not.toThrow();
    const others = operatorRights.filter((one) => one !== right);
    expect(() => requireRight(others, right)).toThrow(
      expect.objectContaining({ code: 'access_denied', status: 403, page: 'not_allowed' }),
    );
    expect(() => requireRight([], right)).toThrow(`This needs the right ${right}.`);
  }
});

it.each(['', 'unknown.do', '__proto__', 'constructor.name', 'partners.create'])(
  'an act without a right, %j, is a mistake that cannot be overlooked',
  (action) => {
    expect(() => rightFor(action)).toThrow(TypeError);
  },
);
