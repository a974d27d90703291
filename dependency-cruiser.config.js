/**
 * Rules for imports between rooms (docs/architecture.md, "The picture"). `npm run check:imports` checks them; imports of types count.
 */
const core = 'packages/core/src';

/** Rooms of the ground. Each may import those before it, `ports` and `errors.ts`. */
const ground = ['secrets', 'text', 'telemetry', 'time', 'limits', 'schemas', 'scopes'];

/** Rooms above the ground, and the rooms above the ground that each may import. All may import the ground, `ports` and the two tables. */
const above = {
  keys: [],
  languages: [],
  options: ['keys', 'languages'],
  http: ['options'],
  pages: ['languages', 'options'],
  audit: [],
  idempotency: ['options'],
  worker: ['options'],
  users: ['options'],
  passports: ['options'],
  webhooks: ['audit', 'idempotency', 'keys', 'options', 'worker'],
  notices: ['options'],
  payments: ['audit', 'idempotency', 'options', 'webhooks'],
  admin: ['audit', 'keys', 'notices', 'options', 'payments', 'webhooks', 'worker'],
  oauth: ['http', 'keys', 'languages', 'notices', 'options', 'pages'],
  operators: ['admin', 'http', 'options'],
  'resource-server': ['keys', 'oauth', 'options'],
  partner: ['audit', 'http', 'idempotency', 'options', 'passports', 'payments', 'users', 'webhooks'],
};

/** Rooms of core, and the rooms that each may import beside itself. The two tables, `errors.ts` and `events.ts`, are rooms of their own. */
const rooms = {
  ports: [],
  errors: [],
  events: ['ports', 'schemas', 'text'],
  ...Object.fromEntries(ground.map((room, index) => [room, ['errors', 'ports', ...ground.slice(0, index)]])),
  ...Object.fromEntries(
    Object.entries(above).map(([room, allowed]) => [
      room,
      ['errors', 'events', 'ports', ...ground, ...allowed],
    ]),
  ),
};

/** Entries of the package and the assembly of the service see every room. */
const entries = 'core|ostiary|index|admin|console|pages|resource-server|storage|internal';

/** Packages of the registry that only these places import. */
const owners = {
  'oidc-provider': `^${core}/oauth/engine/`,
  koa: `^${core}/(http|oauth|partner)/`,
  '@koa/router': `^${core}/http/`,
  '@opentelemetry/api': `^${core}/telemetry/`,
  pg: '^packages/adapter-postgres/src/',
  'postgres-array': '^packages/adapter-postgres/src/',
  'better-sqlite3': '^packages/adapter-sqlite/src/',
};

const pathOf = (room) =>
  room === 'errors' || room === 'events' ? `^${core}/${room}\\.ts$` : `^${core}/${room}/`;

const betweenRooms = Object.entries(rooms).map(([room, allowed]) => ({
  name: `core: ${room}`,
  comment: `${room} may import ${allowed.join(', ')}.`,
  from: { path: pathOf(room) },
  to: { path: `^${core}/`, pathNot: [room, ...allowed].map(pathOf) },
}));

const toPackages = Object.entries(owners).map(([name, owner]) => ({
  name: `only its owner imports ${name}`,
  from: { path: '^packages/[^/]+/src/', pathNot: owner },
  to: { path: `node_modules/(@types/)?${name}/` },
}));

/** Public entries of core, as files: what packages outside may import. */
const publicCore = `^${core}/(index|admin|console|pages|resource-server|storage|internal)\\.ts$`;

/** Every rule is one to keep. */
const rules = (list) => list.map((rule) => ({ severity: 'error', ...rule }));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: rules([
    { name: 'no cycles', from: {}, to: { circular: true } },
    {
      name: 'no unknown rooms',
      from: {
        path: `^${core}/`,
        pathNot: [`^${core}/(${entries})\\.ts$`, ...Object.keys(rooms).map(pathOf)],
      },
      to: {},
    },
    ...betweenRooms,
    ...toPackages,
    {
      name: 'handlers do not import each other',
      from: { path: `^${core}/partner/handlers/` },
      to: { path: `^${core}/partner/handlers/` },
    },
    {
      name: 'ports hold types only',
      from: { path: pathOf('ports') },
      to: { dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nobody imports the index of its own package',
      from: { path: '^packages/([^/]+)/src/' },
      to: { path: '^packages/$1/src/index\\.ts$' },
    },
    {
      name: 'adapters know types of core/storage, and their driver',
      from: { path: '^packages/(adapter-[^/]+)/src/' },
      to: {
        pathNot: [
          '^packages/$1/',
          `^${core}/storage\\.ts$`,
          '^node:|^[a-z_/]+$',
          'node_modules/(@types/)?(pg|postgres-array|better-sqlite3)/',
        ],
      },
    },
    {
      name: 'adapters import nothing of core at run time',
      from: { path: '^packages/adapter-[^/]+/src/' },
      to: { path: `^${core}/`, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'packages know only public entries of each other',
      from: { path: '^packages/([^/]+)/src/' },
      to: {
        path: '^packages/',
        pathNot: ['^packages/$1/', publicCore, '/index\\.ts$', '^packages/webhook-verifier/src/receivers/'],
      },
    },
    {
      name: 'the test kit knows core, and the storage that it runs on',
      from: { path: '^packages/testing/src/' },
      to: {
        path: '^packages/',
        pathNot: ['^packages/testing/', publicCore, '^packages/adapter-sqlite/src/index\\.ts$'],
      },
    },
    {
      name: 'the console knows only what core has for consoles',
      from: { path: '^packages/console/src/', pathNot: '^packages/console/src/operators/' },
      to: { path: `^${core}/`, pathNot: `^${core}/(console|pages)\\.ts$` },
    },
    {
      name: 'pages for operators know also what core has for administrators',
      from: { path: '^packages/console/src/operators/' },
      to: { path: `^${core}/`, pathNot: `^${core}/(admin|console|pages)\\.ts$` },
    },
    {
      name: 'only the test kit and the command line use the internal entry of core',
      from: { pathNot: '^packages/(core|testing|cli)/' },
      to: { path: `^${core}/internal\\.ts$` },
    },
    {
      name: 'client SDK and verifier stand alone',
      from: { path: '^packages/(client-sdk|webhook-verifier)/src/' },
      to: { pathNot: ['^packages/$1/', '^node:|^[a-z_/]+$'] },
    },
    {
      name: 'listen needs nothing but Node and the client that its build contains',
      from: { path: '^packages/listen/src/' },
      to: { pathNot: ['^packages/(listen|client-sdk)/src/', '^node:|^[a-z_/]+$'] },
    },
    {
      name: 'create-ostiary needs nothing but Node',
      from: { path: '^packages/create-ostiary/src/' },
      to: { pathNot: ['^packages/create-ostiary/src/', '^node:|^[a-z_/]+$'] },
    },
    {
      name: 'client SDK and verifier run without Node',
      from: {
        path: '^packages/(client-sdk|webhook-verifier)/src/',
        pathNot: '/(platform|receivers|save\\.ts)',
      },
      to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'tests, proofs and benchmarks do not know each other',
      from: { path: '^lab/(tests|proofs|benchmarks)/' },
      to: { path: '^lab/(tests|proofs|benchmarks)/', pathNot: '^lab/$1/' },
    },
    {
      name: 'proofs do not know each other',
      from: { path: '^lab/proofs/([^/]+)/' },
      to: { path: '^lab/proofs/', pathNot: '^lab/proofs/$1/' },
    },
    {
      name: 'what is shared does not know who shares it',
      from: { path: '^lab/support/' },
      to: { path: '^lab/(tests|proofs|benchmarks)/' },
    },
    {
      name: 'what is published knows nothing of the lab',
      from: { path: '^(packages|examples)/[^/]+/src/' },
      to: { path: '^lab/' },
    },
  ]),
  options: {
    doNotFollow: { path: ['node_modules', '/dist/'] },
    exclude: { path: '^(packages/[^/]+|lab/benchmarks/[^/]+)/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['ostiary-source', 'types', 'import', 'default'],
    },
  },
};
