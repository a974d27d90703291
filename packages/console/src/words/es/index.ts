import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';
import { deliveries } from './deliveries.ts';
import { endpoints, recovery, secrets } from './endpoints.ts';
import { events, trigger } from './events.ts';
import { failures } from './failures.ts';
import { firstRun } from './first-run.ts';
import { operators } from './operators.ts';
import { requests } from './requests.ts';
import { snippets } from './snippets.ts';
import { tools } from './tools.ts';

/** The words of the sandbox console in Spanish. */
export const spanish: Words = {
  title: 'Consola de pruebas',
  testMode: 'Modo de prueba',
  signOut: 'Cerrar sesión',
  back: 'Eventos y endpoints',
  cancel: 'Cancelar',
  show: 'Mostrar',
  filter: 'Filtrar',
  nothingFits: 'Nada corresponde a este filtro.',
  live: 'En directo',
  lost: 'Sin conexión, intentando de nuevo',
  reload: 'Recargue la página para ver lo nuevo',
  notices: {
    signed_out: 'Su sesión está cerrada.',
    ended: 'Su sesión se cerró: ha terminado, o la clave ya no abre la consola.',
    sent: 'El evento está en camino.',
    redelivered: 'El evento está de nuevo en camino.',
    no_match: 'No se envió nada: ningún endpoint activado acepta este tipo de evento.',
    disabled: 'No se envió nada: el endpoint está desactivado. Actívelo primero.',
    gone: 'No se cambió nada: el endpoint ya no existe.',
    endpoint_added: 'El endpoint está registrado.',
    endpoint_enabled: 'El endpoint está activado.',
    endpoint_disabled: 'El endpoint está desactivado, y se canceló lo que estaba en espera para él.',
    endpoint_removed: 'El endpoint está eliminado, y se canceló lo que estaba en espera para él.',
    endpoint_saved: 'El endpoint está guardado.',
    secret_changed: 'El nuevo secreto firma desde el próximo intento.',
    kyc_changed: 'La verificación de identidad cambió, y se avisa a sus endpoints de prueba.',
    kyc_same: 'No se cambió nada: la verificación de identidad ya estaba así.',
    kyc_reset: 'Todos los usuarios de prueba están de nuevo como al principio.',
    paid: 'El pago está iniciado: esto es lo que pasa con él.',
  },
  signIn: {
    intro: (prefix) =>
      html`Inicie sesión con una clave de API de prueba: empieza por ${prefix} y tiene el scope <code>webhooks</code>.`,
    key: 'Clave de API de prueba',
    submit: 'Iniciar sesión',
    refused: (prefix) =>
      html`Esta clave no abre la consola. Solo lo hacen las claves de prueba: empiezan por ${prefix}, tienen el scope <code>webhooks</code>, están vigentes, no exigen peticiones firmadas y vienen de una dirección que permiten.`,
    tooMany: 'Hubo demasiados intentos desde su dirección. Espere un minuto.',
    wrongKey: 'Esta clave no se aceptó.',
    promise: 'La clave no se guarda en su navegador. La sesión se cierra después de 8 horas.',
  },
  endpoints,
  trigger,
  events,
  deliveries,
  failures,
  requests,
  secrets,
  recovery,
  tools,
  firstRun,
  snippets,
  operators,
};
