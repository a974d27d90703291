import type { Words } from '../en/index.ts';

/** By the `error` of an attempt; `status` has several. */
export const failures: Words['failures'] = {
  target_refused: {
    what: 'O endereço não é permitido, por isso nada foi enviado.',
    advice:
      'O nome do host precisa ser resolvido, e somente para endereços públicos. Verifique os registros DNS; durante o desenvolvimento, use um túnel com um endereço https público.',
  },
  timeout: {
    what: 'Nenhuma resposta em 10 segundos.',
    advice:
      'Responda 2xx assim que o evento estiver gravado, e faça o trabalho depois. Se nada chega ao seu servidor, verifique o firewall.',
  },
  connection_refused: {
    what: 'Nada escuta neste endereço.',
    advice: 'Inicie o servidor e compare a porta dele com a da URL.',
  },
  connection_failed: {
    what: 'Não há caminho até este endereço.',
    advice: 'Verifique se os registros DNS do nome do host levam a um servidor que está no ar.',
  },
  connection_reset: {
    what: 'A conexão foi fechada antes de chegar uma resposta.',
    advice: 'Procure uma falha no log do seu servidor, ou um proxy na frente dele que desiste cedo demais.',
  },
  certificate: {
    what: 'O certificado TLS não é confiável.',
    advice:
      'Apresente um certificado em vigor de uma autoridade pública, para este nome de host e com os seus certificados intermediários.',
  },
  tls: {
    what: 'Não foi possível estabelecer uma conexão segura.',
    advice: 'Verifique se esta porta fala TLS 1.2 ou mais recente: http simples não funciona aqui.',
  },
  protocol: {
    what: 'A resposta não era HTTP/1.1 correto.',
    advice: 'Verifique se a porta é de um servidor web, e se os cabeçalhos de resposta são pequenos.',
  },
  redirect: {
    what: 'Ele respondeu com um redirecionamento, que não é seguido.',
    advice: 'Registre o endereço final, muitas vezes aquele com ou sem uma barra no fim.',
  },
  status_denied: {
    what: 'Ele recusou a requisição.',
    advice:
      'Quase sempre a assinatura não correspondia: verifique-a sobre os bytes originais do corpo, com o segredo deste endpoint. Não exija login neste caminho.',
  },
  status_missing: {
    what: 'Ele não aceita um POST neste caminho.',
    advice: 'Compare o caminho da URL com a rota do seu aplicativo.',
  },
  status_busy: {
    what: 'Ele disse que havia requisições demais.',
    advice: 'Exclua este caminho do seu limite de requisições. A próxima tentativa talvez passe por si só.',
  },
  status_server: {
    what: 'O seu servidor falhou ao tratar o evento.',
    advice: 'Veja a resposta abaixo e o log do seu servidor neste horário.',
  },
  status_other: {
    what: 'Ele não respondeu com um status 2xx.',
    advice:
      'Responda um status de 200 a 299 quando o evento estiver gravado. A resposta abaixo talvez diga mais.',
  },
  aborted: {
    what: 'A tentativa foi interrompida do nosso lado.',
    advice:
      'Você não precisa fazer nada: o seu servidor talvez tenha visto o evento, e ele é enviado de novo.',
  },
  internal: {
    what: 'Algo deu errado do nosso lado.',
    advice: 'Você não precisa fazer nada: haverá outra tentativa. Avise-nos se acontecer com frequência.',
  },
  unknown: { what: 'A tentativa falhou.', advice: 'A resposta abaixo talvez diga mais.' },
};
