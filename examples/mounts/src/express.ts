import type { Ostiary } from '@ostiary/core';
import express from 'express';
import type { Host } from './host.ts';
import { listening, type Stop } from './listening.ts';

/** Serves Ostiary and the host application's routes with Express. */
export function serveExpress(ostiary: Ostiary, host: Host, port: number): Promise<Stop> {
  const app = express();
  // Before the body parsers: signatures of the partner API are checked over the bytes as they were sent.
  app.use(ostiary.handler);
  app.use(express.json(), express.urlencoded({ extended: false }));

  app.get('/login', (request, response) => {
    response.type('html').send(host.loginPage(String(request.query.return_to ?? '')));
  });
  app.post('/login', (request, response) => {
    const { cookie, location } = host.signIn(request.body);
    response.set('Set-Cookie', cookie).redirect(303, location);
  });
  app.get('/shop', (request, response) => {
    response.send(host.shopPage(request.headers.cookie));
  });
  app.post('/shop/orders', (request, response) => {
    response.json(host.order(request.body));
  });
  return listening(app.listen(port, '127.0.0.1'));
}
