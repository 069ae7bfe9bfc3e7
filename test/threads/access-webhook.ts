import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { aFolder } from '../identity/folder.ts'

interface Review {
  readonly apiVersion: string
  readonly spec: {
    readonly user: string
    readonly resourceAttributes?: { readonly verb: string; readonly resource: string }
    readonly nonResourceAttributes?: { readonly verb: string; readonly path: string }
  }
}

/** An authorization webhook that decides by the user's name; `asked` has a line for each question: user, verb and what it is about. */
export async function anAccessWebhook(isAllowed: (user: string) => boolean) {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { apiVersion, spec } = JSON.parse(text) as Review
    const { resourceAttributes: about, nonResourceAttributes: path } = spec
    asked.push([spec.user, about?.verb ?? path?.verb, about?.resource ?? path?.path].join(' '))
    const status = { allowed: isAllowed(spec.user) }
    response.writeHead(200).end(JSON.stringify({ apiVersion, kind: 'SubjectAccessReview', status }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const configuration = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'a',
    clusters: [{ name: 'a', cluster: { server: `http://127.0.0.1:${port}/` } }],
    users: [{ name: 'a', user: {} }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
  }
  const file = aFolder().write('webhook.conf', JSON.stringify(configuration))
  /** Its part of a configuration of authorization. */
  const link = (name: string, fields: object = {}) => ({
    type: 'Webhook',
    name,
    webhook: {
      ...{ timeout: '3s', authorizedTTL: '5m', unauthorizedTTL: '30s', subjectAccessReviewVersion: 'v1', failurePolicy: 'NoOpinion' },
      matchConditionSubjectAccessReviewVersion: 'v1',
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: file },
      ...fields,
    },
  })
  return { asked, file, link }
}
