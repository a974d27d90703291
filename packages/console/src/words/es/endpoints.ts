import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const endpoints: Words['endpoints'] = {
  title: 'Endpoints',
  add: 'Añadir un endpoint',
  emptyTitle: 'Ningún endpoint todavía',
  empty: 'Registre la dirección en la que su aplicación recibe eventos.',
  enabled: 'Activado',
  disabled: 'Desactivado',
  allTypes: 'Todos los tipos de eventos',
  enable: 'Activar',
  disable: 'Desactivar',
  disableHint: 'Al desactivar un endpoint se cancela lo que está en espera para él.',
  remove: 'Eliminar este endpoint',
  removeHint: 'No se puede recuperar, y se cancela lo que está en espera para él.',
  removeNow: 'Eliminar definitivamente',
  removed: 'Endpoint eliminado',
  since: (time) => html`Registrado el ${time}`,
  addTitle: 'Añadir un endpoint',
  url: 'Dirección (URL)',
  urlHint: 'Una dirección https pública. Cada evento se le envía con un POST.',
  secret: 'Secreto del webhook',
  secretHint:
    'Firma cada evento; su aplicación tiene que conocerlo. Déjelo vacío para obtener uno generado, o escriba uno de 16 a 256 caracteres.',
  types: 'Tipos de eventos',
  refused: 'El endpoint no se registró.',
  badTypes: 'Elija al menos un tipo.',
  secretAgain:
    'La página no lo guarda: escríbalo de nuevo, de 16 a 256 caracteres. Si lo deja vacío, recibe uno generado.',
  twin: (id) => html`Otro de sus endpoints tiene esta dirección: ${id}. Los dos recibirían cada evento.`,
  anyway: 'Registrarlo de todos modos',
  saveAnyway: 'Guardarlo de todos modos',
  edit: 'Modificar la dirección y los tipos',
  rotate: 'Reemplazar el secreto',
  editTitle: 'Modificar un endpoint',
  editUrlHint:
    'Una dirección https pública. Lo que está en espera para el endpoint va allí desde el próximo intento.',
  editRefused: 'El endpoint no se modificó.',
  save: 'Guardar',
  goneTitle: 'Este endpoint no existe',
};

export const secrets: Words['secrets'] = {
  title: 'Reemplazar el secreto',
  underWay:
    'Un endpoint tiene un solo secreto a la vez. El nuevo firma todos los intentos a partir del próximo, también los reintentos de eventos en curso.',
  overlap:
    'Haga primero que su aplicación acepte los dos secretos, para que no se rechace ningún evento. Un evento rechazado se intenta de nuevo, como tras cualquier fallo.',
  generateTitle: 'Un secreto generado',
  generateHint: 'Primero se le muestra a usted. El anterior sigue vigente hasta que usted lo indique.',
  generate: 'Generar un secreto',
  generatedTitle: 'Su nuevo secreto',
  generatedHint: 'Todavía no está vigente. Déselo a su aplicación y después haga que firme.',
  onlyNow: 'Se muestra ahora y nunca más.',
  use: 'Firmar con él desde ahora',
  discard: 'Conservar el anterior',
  ownTitle: 'Un secreto de su elección',
  own: 'Nuevo secreto',
  ownHint: 'De 16 a 256 caracteres aleatorios. Nunca se muestra.',
  refused: 'El secreto no se reemplazó.',
  toEndpoint: 'Ir al endpoint',
  newTitle: 'El secreto de su endpoint',
  newHint: 'Dé este secreto a su aplicación: cada evento se firma con él.',
};

export const recovery: Words['recovery'] = {
  title: 'Recuperar lo abandonado',
  hint: 'Entrega de nuevo lo que se abandonó tras el último intento, desde un momento dado.',
  disabled: 'Active primero el endpoint.',
  since: 'Desde (UTC)',
  sinceHint: 'Fecha y hora en UTC, como en esta página.',
  recover: 'Recuperar',
  refused: 'No se recuperó nada.',
  badSince: 'Indique una fecha y una hora, como 2026-01-31 14:05.',
  none: 'No se abandonó nada desde entonces.',
  done: (count) => `Entregas puestas de nuevo en cola: ${count}.`,
  more: (count) => `Entregas puestas de nuevo en cola: ${count}. Puede haber más: recupere otra vez.`,
};
