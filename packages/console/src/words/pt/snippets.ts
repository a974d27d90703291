import type { Words } from '../en/index.ts';

export const snippets: Words['snippets'] = {
  copy: 'Copiar',
  copied: 'Copiado.',
  notCopied: 'O seu navegador não deixa a página copiar. O texto está selecionado: copie-o pelo teclado.',
  curl: (title) => `${title}: curl`,
  sdk: (title) => `${title}: @ostiary/client-sdk`,
  key: 'A chave de API é lida da variável de ambiente OSTIARY_API_KEY.',
  unknownId: 'O registro não guarda o que estava no caminho: coloque-o na variável ID.',
  title: 'A partir do seu código',
  trigger: 'Gerar este evento',
  redeliver: 'Entregar este evento de novo',
  repeat: 'Repetir esta requisição',
  repeatHint: 'Complete o que foi retirado do corpo. Os parâmetros do endereço não são guardados.',
  cut: 'O corpo foi cortado, por isso a requisição não pode ser repetida daqui.',
};
