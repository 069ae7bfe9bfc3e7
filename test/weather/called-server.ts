import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'

/** A server that plays every server that the API server calls: all webhooks, and an aggregated API. */
export type CalledServer = Awaited<ReturnType<typeof aCalledServer>>

// biome-ignore lint/suspicious/noExplicitAny: reviews of several kinds.
type Review = any

const review = ({ apiVersion, kind }: Review, rest: object) => ({ apiVersion, kind, ...rest })

/** Answers that allow every request. */
const answers: Readonly<Record<string, (body: Review, path: string) => object>> = {
  validate: (body) => review(body, { response: { uid: body.request.uid, allowed: true } }),
  mutate: (body) => review(body, { response: { uid: body.request.uid, allowed: true } }),
  convert: (body) => {
    const { uid, desiredAPIVersion, objects } = body.request
    const convertedObjects = objects.map((object: object) => ({ ...object, apiVersion: desiredAPIVersion }))
    return review(body, { response: { uid, result: { status: 'Success' }, convertedObjects } })
  },
  token: (body) => review(body, { status: { authenticated: true, user: { username: 'jane' } } }),
  access: (body) => review(body, { status: { allowed: true } }),
  audit: () => ({}),
  apis: (_body, path) =>
    path.endsWith('/flavors')
      ? { kind: 'FlavorList', apiVersion: 'example.io/v1', metadata: {}, items: [] }
      : {
          kind: 'APIResourceList',
          apiVersion: 'v1',
          groupVersion: 'example.io/v1',
          resources: [{ name: 'flavors', singularName: 'flavor', namespaced: true, kind: 'Flavor', verbs: ['get', 'list'] }],
        },
}

export async function aCalledServer() {
  const authority = await anAuthority('called')
  const serving = await aCertificate({ issuer: authority, commonName: 'server', use: 'server', dnsNames: ['127.0.0.1', 'api.team.svc'] })
  const calls = new Map<string, number>()
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const path = (request.url ?? '').replace(/\?.*/, '')
    const kind = path.split('/')[1] ?? ''
    if (kind !== 'apis' || path.endsWith('/flavors')) calls.set(kind, (calls.get(kind) ?? 0) + 1)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(answers[kind]?.(text === '' ? undefined : JSON.parse(text), path) ?? {}))
  }
  const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => void take(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const caBundle = Buffer.from(authority.certificate).toString('base64')
  const folder = mkdtempSync(join(tmpdir(), 'called-'))
  const file = (name: string, value: object) => {
    writeFileSync(join(folder, name), JSON.stringify(value))
    return join(folder, name)
  }
  return {
    /** `host:port`. */
    address,
    /** PEM, in base64. */
    caBundle,
    /** The calls by the first part of their path. */
    calls,
    /** Another file in the same folder. */
    file,
    /** A client configuration file for webhooks of flags; `path` is the first part of the URL. */
    configFile: (path: string) =>
      file(`${path}.conf`, {
        ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'w' },
        clusters: [{ name: 'w', cluster: { server: `https://${address}/${path}`, 'certificate-authority-data': caBundle } }],
        users: [{ name: 'w', user: {} }],
        contexts: [{ name: 'w', context: { cluster: 'w', user: 'w' } }],
      }),
    stop() {
      server.closeAllConnections()
      server.close()
      rmSync(folder, { recursive: true })
    },
  }
}
