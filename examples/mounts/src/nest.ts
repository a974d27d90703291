import 'reflect-metadata';
import { Body, Controller, Get, Headers, Post, Query, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Ostiary } from '@ostiary/core';
import type { Response } from 'express';
import type { Host, LoginForm } from './host.ts';
import type { Stop } from './listening.ts';

/**
 * Applies decorators to a method and its parameters, as `@Get('shop')` would, without a compiler for the `@`
 * syntax.
 */
function route(
  controller: { readonly prototype: object },
  name: string,
  method: MethodDecorator,
  ...parameters: readonly ParameterDecorator[]
): void {
  const { prototype } = controller;
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  if (descriptor === undefined) throw new TypeError(`there is no method ${name}`);
  method(prototype, name, descriptor);
  for (const [index, parameter] of parameters.entries()) parameter(prototype, name, index);
}

function shopController(host: Host) {
  class ShopController {
    loginPage(returnTo: string) {
      return host.loginPage(returnTo);
    }
    signIn(form: LoginForm, response: Response) {
      const { cookie, location } = host.signIn(form);
      response.set('Set-Cookie', cookie).redirect(303, location);
    }
    shop(cookies: string | undefined) {
      return host.shopPage(cookies);
    }
    order(body: { item?: unknown }) {
      return host.order(body);
    }
  }
  Controller()(ShopController);
  route(ShopController, 'loginPage', Get('login'), Query('return_to'));
  route(ShopController, 'signIn', Post('login'), Body(), Res());
  route(ShopController, 'shop', Get('shop'), Headers('cookie'));
  route(ShopController, 'order', Post('shop/orders'), Body());
  return ShopController;
}

/** Serves Ostiary and the host application's routes with NestJS on Express. */
export async function serveNest(ostiary: Ostiary, host: Host, port: number): Promise<Stop> {
  class AppModule {}
  const app = await NestFactory.create<NestExpressApplication>(
    { module: AppModule, controllers: [shopController(host)] },
    { logger: ['error'] },
  );
  // Nest adds its body parsers when it starts to listen, so middleware added before runs first.
  app.use(ostiary.handler);
  await app.listen(port, '127.0.0.1');
  return () => app.close();
}
