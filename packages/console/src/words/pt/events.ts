import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const trigger: Words['trigger'] = {
  title: 'Gerar um evento de teste',
  intro: 'Ele parece um evento real e vai para os seus endpoints de teste. Nenhum dinheiro é movido.',
  type: 'Tipo',
  send: 'Enviar',
  edit: 'Editar os dados antes',
  editTitle: 'Editar um evento de teste',
  data: 'Dados',
  dataHint: 'Um objeto JSON que corresponde ao tipo. É o membro “data” do corpo.',
  refused: 'O evento não foi enviado.',
};

export const events: Words['events'] = {
  title: 'Eventos',
  emptyTitle: 'Nenhum evento ainda',
  empty: 'Gere um, ou faça um pagamento com uma chave de teste.',
  newest: 'Eventos mais recentes',
  older: 'Eventos mais antigos',
  all: 'Todos os tipos de eventos',
  body: 'Corpo',
  bodyHint:
    'Mostrado com quebras de linha. É assinado e enviado sem elas, com os mesmos bytes em cada tentativa.',
  filters: 'Filtros',
  type: 'Tipo de evento',
  state: 'Entregas',
  endpoint: 'Endpoint',
  allEndpoints: 'Todos os endpoints',
  until: 'Até (UTC)',
  untilWrong: (example) => `Escreva a data como ${example}. A lista não leva esta em conta.`,
  clear: 'Limpar os filtros',
  id: 'Identificador do evento',
  find: 'Abrir',
  notFound: 'Nenhum evento tem este identificador.',
  nothingYet: 'Nada corresponde a este filtro entre os eventos pesquisados: 5.000 de cada vez.',
  searchOlder: 'Pesquisar eventos mais antigos',
  json: 'JSON',
  sequence: (number) => html`Evento ${number}`,
  redeliverAll: 'Entregar de novo',
  redeliverHint:
    'A cada endpoint ativado que aceita este tipo agora, com o mesmo identificador e o mesmo corpo.',
};
