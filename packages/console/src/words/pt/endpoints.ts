import { html } from '@ostiary/core/console';
import type { Words } from '../en/index.ts';

export const endpoints: Words['endpoints'] = {
  title: 'Endpoints',
  add: 'Adicionar um endpoint',
  emptyTitle: 'Nenhum endpoint ainda',
  empty: 'Registre o endereço em que o seu aplicativo recebe eventos.',
  enabled: 'Ativado',
  disabled: 'Desativado',
  allTypes: 'Todos os tipos de eventos',
  enable: 'Ativar',
  disable: 'Desativar',
  disableHint: 'Desativar um endpoint cancela o que está em espera para ele.',
  remove: 'Remover este endpoint',
  removeHint: 'Ele não pode ser recuperado, e o que está em espera para ele é cancelado.',
  removeNow: 'Remover definitivamente',
  removed: 'Endpoint removido',
  since: (time) => html`Registrado em ${time}`,
  addTitle: 'Adicionar um endpoint',
  url: 'Endereço (URL)',
  urlHint: 'Um endereço https público. Cada evento é enviado a ele por POST.',
  secret: 'Segredo do webhook',
  secretHint:
    'Ele assina cada evento; o seu aplicativo precisa conhecê-lo. Deixe vazio para receber um gerado, ou digite um de 16 a 256 caracteres.',
  types: 'Tipos de eventos',
  refused: 'O endpoint não foi registrado.',
  badTypes: 'Escolha pelo menos um tipo.',
  secretAgain:
    'A página não o guarda: digite-o de novo, de 16 a 256 caracteres. Se deixar vazio, você recebe um gerado.',
  twin: (id) => html`Outro endpoint seu tem este endereço: ${id}. Os dois receberiam cada evento.`,
  anyway: 'Registrar mesmo assim',
  saveAnyway: 'Salvar mesmo assim',
  edit: 'Editar o endereço e os tipos',
  rotate: 'Substituir o segredo',
  editTitle: 'Editar um endpoint',
  editUrlHint:
    'Um endereço https público. O que está em espera para o endpoint vai para lá a partir da próxima tentativa.',
  editRefused: 'O endpoint não foi alterado.',
  save: 'Salvar',
  goneTitle: 'Este endpoint não existe',
};

export const secrets: Words['secrets'] = {
  title: 'Substituir o segredo',
  underWay:
    'Um endpoint tem um só segredo de cada vez. O novo assina todas as tentativas a partir da próxima, também as novas tentativas de eventos em andamento.',
  overlap:
    'Primeiro faça o seu aplicativo aceitar os dois segredos, para que nenhum evento seja recusado. Um evento recusado é tentado de novo, como após qualquer falha.',
  generateTitle: 'Um segredo gerado',
  generateHint: 'Ele é mostrado primeiro a você. O antigo continua em vigor até você dizer.',
  generate: 'Gerar um segredo',
  generatedTitle: 'O seu novo segredo',
  generatedHint: 'Ele ainda não está em vigor. Informe-o ao seu aplicativo e depois faça-o assinar.',
  onlyNow: 'Ele é mostrado agora e nunca mais.',
  use: 'Assinar com ele a partir de agora',
  discard: 'Manter o antigo',
  ownTitle: 'Um segredo da sua escolha',
  own: 'Novo segredo',
  ownHint: 'De 16 a 256 caracteres aleatórios. Ele nunca é mostrado.',
  refused: 'O segredo não foi substituído.',
  toEndpoint: 'Ir para o endpoint',
  newTitle: 'O segredo do seu endpoint',
  newHint: 'Informe este segredo ao seu aplicativo: cada evento é assinado com ele.',
};

export const recovery: Words['recovery'] = {
  title: 'Recuperar o que foi abandonado',
  hint: 'Entrega de novo o que foi abandonado após a última tentativa, desde um certo momento.',
  disabled: 'Ative o endpoint primeiro.',
  since: 'Desde (UTC)',
  sinceHint: 'Data e hora em UTC, como nesta página.',
  recover: 'Recuperar',
  refused: 'Nada foi recuperado.',
  badSince: 'Informe uma data e uma hora, como 2026-01-31 14:05.',
  none: 'Nada foi abandonado desde então.',
  done: (count) => `Entregas recolocadas na fila: ${count}.`,
  more: (count) => `Entregas recolocadas na fila: ${count}. Pode haver mais: recupere outra vez.`,
};
