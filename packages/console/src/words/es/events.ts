import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const trigger: Words['trigger'] = {
  title: 'Generar un evento de prueba',
  intro: 'Parece uno real y va a sus endpoints de prueba. No se mueve dinero.',
  type: 'Tipo',
  send: 'Enviar',
  edit: 'Modificar antes los datos',
  editTitle: 'Modificar un evento de prueba',
  data: 'Datos',
  dataHint: 'Un objeto JSON que corresponde al tipo. Es el miembro «data» del cuerpo.',
  refused: 'El evento no se envió.',
};

export const events: Words['events'] = {
  title: 'Eventos',
  emptyTitle: 'Ningún evento todavía',
  empty: 'Genere uno, o haga un pago con una clave de prueba.',
  newest: 'Eventos más recientes',
  older: 'Eventos anteriores',
  all: 'Todos los tipos de eventos',
  body: 'Cuerpo',
  bodyHint:
    'Se muestra con saltos de línea. Se firma y se envía sin ellos, con los mismos bytes en cada intento.',
  filters: 'Filtros',
  type: 'Tipo de evento',
  state: 'Entregas',
  endpoint: 'Endpoint',
  allEndpoints: 'Todos los endpoints',
  until: 'Hasta (UTC)',
  untilWrong: (example) => `Escriba la fecha como ${example}. La lista no tiene en cuenta esta.`,
  clear: 'Borrar los filtros',
  id: 'Identificador del evento',
  find: 'Abrir',
  notFound: 'Ningún evento tiene este identificador.',
  nothingYet: 'Nada corresponde a este filtro entre los eventos consultados: 5.000 a la vez.',
  searchOlder: 'Buscar en eventos anteriores',
  json: 'JSON',
  sequence: (number) => html`Evento ${number}`,
  redeliverAll: 'Entregar de nuevo',
  redeliverHint:
    'A cada endpoint activado que acepta ahora este tipo, con el mismo identificador y el mismo cuerpo.',
};
