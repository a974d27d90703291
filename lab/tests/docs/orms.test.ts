import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MikroORM } from '@mikro-orm/postgresql';
import { postgresStorage } from '@ostiary/adapter-postgres';
import { sqliteStorage } from '@ostiary/adapter-sqlite';
import { OstiaryPartner } from '@ostiary/client-sdk';
import type { Ostiary, OstiaryOptions } from '@ostiary/core';
import { PrismaPg } from '@prisma/adapter-pg';
import Database from 'better-sqlite3';
import { drizzle as drizzleSqlite } from 'drizzle-orm/better-sqlite3';
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres';
import knexOn, { type Knex } from 'knex';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { DataTypes, Sequelize } from 'sequelize';
import { DataSource } from 'typeorm';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { afterwards, serve } from '../../../packages/core/test/support/running.ts';
import { root } from '../../support/documentation.ts';
import { bodyOf } from '../../support/http.ts';
import { testPostgres } from '../../support/postgres/postgres.ts';
import { installation } from './support/reader.ts';
import { recipeFolder } from './support/recipe.ts';

const { fileFor, recipe } = recipeFolder();

/** Exports of a documented recipe: the function that ships an order, and functions that open the database. */
interface Recipe {
  ship(ostiary: Pick<Ostiary, 'events'>, db: unknown, orderId: string): unknown;
  open(file: string): { readonly database: Database.Database };
  readonly Order: never;
}

/**
 * A database with a table of the host application and an installation of Ostiary, whose partner has an
 * endpoint.
 */
interface Stage {
  /** URL of the database, or path of the database file. */
  readonly where: string;
  readonly ostiary: Ostiary;
  readonly partner: OstiaryPartner;
  /** Runs SQL of the application and returns the rows. */
  run(sql: string): Promise<unknown[]> | unknown[];
  /** Orders that the webhook endpoint has received. */
  readonly delivered: unknown[];
}

function ends<Opened>(opened: Opened, end: (opened: Opened) => unknown): Opened {
  afterwards(() => end(opened));
  return opened;
}
// The server ends idle connections when it stops, which without a listener would fail the run.
const poolOn = (connectionString: string) =>
  ends(
    new Pool({ connectionString }).on('error', () => undefined),
    (pool) => pool.end(),
  );
const fileOn = (file: string) => ends(new Database(file), (database) => database.close());

/** Recipes of the page about ORMs, with the function that opens the database of each recipe. */
const recipes: readonly (readonly [
  heading: string,
  on: 'PostgreSQL' | 'SQLite',
  open: (where: string, recipe: Recipe) => unknown,
])[] = [
  [
    'Kysely on PostgreSQL',
    'PostgreSQL',
    (url) => new Kysely({ dialect: new PostgresDialect({ pool: poolOn(url) }) }),
  ],
  ['Kysely on SQLite', 'SQLite', (file, { open }) => ends(open(file), ({ database }) => database.close())],
  ['Drizzle on PostgreSQL', 'PostgreSQL', (url) => drizzlePostgres(poolOn(url))],
  ['Drizzle on SQLite', 'SQLite', (file) => drizzleSqlite(fileOn(file))],
  ['Knex', 'PostgreSQL', (url) => knexWith({ client: 'pg', connection: url })],
  ['Knex', 'SQLite', (filename) => knexWith({ client: 'better-sqlite3', connection: { filename } })],
  [
    'TypeORM',
    'PostgreSQL',
    async (url, { Order }) => {
      const source = new DataSource({ type: 'postgres', url, entities: [Order] });
      return ends(await source.initialize(), () => source.destroy());
    },
  ],
  [
    'MikroORM',
    'PostgreSQL',
    async (clientUrl, { Order }) =>
      ends(await MikroORM.init({ clientUrl, entities: [Order] }), (orm) => orm.close()).em.fork(),
  ],
  [
    'Sequelize',
    'PostgreSQL',
    (url) => {
      const sequelize = new Sequelize(url, { logging: false });
      const columns = { id: { type: DataTypes.TEXT, primaryKey: true }, state: DataTypes.TEXT };
      sequelize.define('Order', columns, { tableName: 'orders', timestamps: false });
      return ends(sequelize, () => sequelize.close());
    },
  ],
  [
    'Prisma',
    'PostgreSQL',
    async (connectionString) => {
      const PrismaClient = await generatedClient();
      const adapter = new PrismaPg({ connectionString });
      return ends(new PrismaClient({ adapter }), (prisma) => prisma.$disconnect());
    },
  ],
];

const knexWith = (config: Knex.Config) =>
  ends(knexOn({ ...config, useNullAsDefault: true }), (knex) => knex.destroy());

const prismaSchema = `
  generator client {
    provider = "prisma-client"
    output   = "./generated"
  }
  datasource db {
    provider = "postgresql"
  }
  model Order {
    id    String @id
    state String
    @@map("orders")
  }
`;

/** Generates the Prisma client beside the recipe. */
async function generatedClient(): Promise<new (options: object) => { $disconnect(): Promise<void> }> {
  const [command, schema] = [join(root, 'lab/node_modules/prisma/build/index.js'), fileFor('schema.prisma')];
  writeFileSync(schema, prismaSchema);
  // Naming an engine keeps Prisma from downloading one. Generating the client does not use it.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  // Runs in another process: otherwise the worker in this one would be blocked and hold its claims until they
  // expire.
  await promisify(execFile)(process.execPath, [command, 'generate', '--schema', schema], { env });
  return (await import(fileFor('generated/client.ts'))).PrismaClient;
}

async function stageOn(where: string, storage: OstiaryOptions['storage'], run: Stage['run']): Promise<Stage> {
  const delivered: unknown[] = [];
  const receiver = await serve(async (request, response) => {
    delivered.push(JSON.parse((await bodyOf(request)).toString()).data.orderId);
    response.end();
  });
  const ostiary = await installation('http://127.0.0.1:3000', {
    storage,
    events: { 'order.shipped': { schema: z.object({ orderId: z.string() }), example: { orderId: 'A-1' } } },
    webhooks: { allowPrivateTargets: true },
  });
  await ostiary.admin.partners.create({ slug: 'kafe-lakay', name: 'Kafe Lakay' });
  const { key } = await ostiary.admin.apiKeys.issue({
    partner: 'kafe-lakay',
    mode: 'live',
    scopes: ['webhooks'],
  });
  const partner = new OstiaryPartner({
    apiKey: key,
    baseUrl: 'http://127.0.0.1:3000',
    fetch: (...asked) => ostiary.fetch(new Request(...asked)),
  });
  await partner.webhooks.create({ url: receiver, events: ['*'], secret: 'of the receiver, which trusts us' });
  await run('CREATE TABLE orders (id text PRIMARY KEY, state text NOT NULL)');
  await ostiary.worker.start();
  return { where, ostiary, partner, run, delivered };
}

const stages = new Map<string, Stage>();
beforeAll(async () => {
  const server = ends(await testPostgres({ settings: ['fsync=off'] }), ({ remove }) => remove());
  const pool = poolOn(server.url());
  const postgres = await stageOn(
    server.url(),
    postgresStorage({ connectionString: server.url() }),
    async (sql) => (await pool.query(sql)).rows,
  );
  const file = fileFor('orms.db');
  const sqlite = await stageOn(file, sqliteStorage({ file }), (sql) => {
    const database = new Database(file);
    const statement = database.prepare(sql);
    const rows = statement.reader ? statement.all() : [statement.run()];
    database.close();
    return rows;
  });
  stages.set('PostgreSQL', postgres).set('SQLite', sqlite);
});

const stageOf = (name: string): Stage => {
  const stage = stages.get(name);
  if (stage === undefined) throw new Error(`no ${name}`);
  return stage;
};

it.each(recipes)(
  '%s (%s): the event is there with the row or neither is, whoever else ships at the same time',
  async (heading, on, open) => {
    const { where, ostiary, partner, run } = stageOf(on);
    const code = await recipe<Recipe>(heading, { page: 'docs/orms.md' });
    const db = await open(where, code);
    const idOf = (name: string) => `${heading} ${on} ${name}`;
    type Publish = Ostiary['events']['publish'];
    const whose: { readonly [order: string]: Publish } = {
      first: ostiary.events.publish,
      'refused before it is written': (event, options) =>
        ostiary.events.publish({ ...event, data: {} }, options),
      'broken off after it is written': (event, options) => {
        const published = ostiary.events.publish(event, options);
        const breakOff = () => {
          throw new Error('in the middle');
        };
        return on === 'SQLite' ? breakOff() : published.then(breakOff);
      },
      second: ostiary.events.publish,
    };
    const [met, all] = [new Set<string>(), Promise.withResolvers<void>()];
    /**
     * Waits in the middle of each transaction on PostgreSQL until all concurrent transactions have come this
     * far.
     */
    const meeting = (publish: Publish): Publish =>
      on === 'SQLite'
        ? publish
        : (event, options) => {
            if (met.add(String(event.data.orderId)).size === Object.keys(whose).length) all.resolve();
            return all.promise.then(() => publish(event, options));
          };
    for (const name of Object.keys(whose)) await run(`INSERT INTO orders VALUES ('${idOf(name)}', 'paid')`);
    const outcomes = await Promise.allSettled(
      Object.entries(whose).map(async ([name, publish]) =>
        code.ship({ events: { publish: meeting(publish) } }, db, idOf(name)),
      ),
    );
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : 'shipped'))).toEqual([
      'shipped',
      expect.objectContaining({ name: 'EventDataError' }),
      new Error('in the middle'),
      'shipped',
    ]);
    const shipped = [idOf('first'), idOf('second')];
    expect(
      await run(`SELECT id FROM orders WHERE state = 'shipped' AND id LIKE '${heading} ${on} %' ORDER BY id`),
    ).toEqual(shipped.map((id) => ({ id })));
    const published: unknown[] = [];
    for await (const { data } of partner.events.list({ after: 0 })) published.push(data.orderId);
    expect(published.filter((id) => String(id).startsWith(`${heading} ${on} `)).sort()).toEqual(shipped);
  },
);

it.each(['PostgreSQL', 'SQLite'])('what was published in them on %s is delivered once', async (on) => {
  const { ostiary, delivered } = stageOf(on);
  const shipped = recipes
    .filter(([, where]) => where === on)
    .flatMap(([heading]) => [`${heading} ${on} first`, `${heading} ${on} second`]);
  await expect.poll(() => delivered.length).toBeGreaterThanOrEqual(shipped.length);
  await ostiary.worker.stop();
  expect(delivered.toSorted()).toEqual(shipped.toSorted());
});
