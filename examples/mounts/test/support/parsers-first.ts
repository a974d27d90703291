import 'reflect-metadata';
import type { IncomingMessage, Server } from 'node:http';
import { serve as serveRequests } from '@hono/node-server';
import { type MiddlewareConsumer, RequestMethod } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { listening } from '../../src/listening.ts';
import type { Serve } from './deployment.ts';

const keep = (request: IncomingMessage, _response: unknown, bytes: Buffer): void => {
  Object.assign(request, { rawBody: bytes });
};

/**
 * Makes a function that serves Express with body parsers in front of Ostiary. With `keepBytes`, the parsers
 * keep the raw bytes.
 */
export function expressParsersFirst({ keepBytes }: { readonly keepBytes: boolean }): Serve {
  return (ostiary, _host, port) => {
    const app = express();
    const options = keepBytes ? { verify: keep } : {};
    app.use(express.json(options), express.urlencoded({ extended: false, ...options }));
    app.use(ostiary.handler);
    return listening(app.listen(port, '127.0.0.1'));
  };
}

/** Makes a function that serves Fastify with Ostiary in a route, which runs after Fastify's body parsers. */
export function fastifyParsersFirst({ keepBytes }: { readonly keepBytes: boolean }): Serve {
  return async (ostiary, _host, port) => {
    const app = fastify();
    app.removeAllContentTypeParsers();
    app.addContentTypeParser(
      ['application/json', 'application/x-www-form-urlencoded'],
      { parseAs: 'buffer' },
      (request, bytes, done) => {
        if (keepBytes) Object.assign(request.raw, { rawBody: bytes });
        const text = bytes.toString();
        const isJson = request.headers['content-type']?.startsWith('application/json') === true;
        done(null, isJson ? JSON.parse(text) : Object.fromEntries(new URLSearchParams(text)));
      },
    );
    app.all('/*', (request, reply) => {
      reply.hijack();
      ostiary.handler(Object.assign(request.raw, { body: request.body }), reply.raw);
    });
    await app.listen({ port, host: '127.0.0.1' });
    return () => app.close();
  };
}

/**
 * Makes a function that serves NestJS with Ostiary as middleware of a module, which runs after Nest's body
 * parsers.
 */
export function nestParsersFirst({ keepBytes }: { readonly keepBytes: boolean }): Serve {
  return async (ostiary, _host, port) => {
    class AppModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(ostiary.handler).forRoutes({ path: '*path', method: RequestMethod.ALL });
      }
    }
    const app = await NestFactory.create<NestExpressApplication>(
      { module: AppModule },
      { logger: ['error'], rawBody: keepBytes },
    );
    await app.listen(port, '127.0.0.1');
    return () => app.close();
  };
}

/** Serves Hono with middleware that reads every body before Ostiary gets it. */
export const honoBodyRead: Serve = (ostiary, _host, port) => {
  const app = new Hono();
  app.use(async (c, next) => {
    await c.req.text();
    return next();
  });
  app.use((c, next) => ostiary.fetch(c.req.raw, { next }));
  app.onError((error, c) => c.text(`failed: ${error.message}`, 500));
  return listening(serveRequests({ fetch: app.fetch, port, hostname: '127.0.0.1' }) as Server);
};
