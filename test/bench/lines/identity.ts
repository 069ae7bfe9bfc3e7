import { createPublicKey, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { generateSigningKey } from '@orch/platform'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { alternate, type Figure, type Line } from '../figure.ts'
import { bodyRequest, type Connection, getRequest, loadHttp1 } from '../http1-load.ts'
import type { OrchServer } from '../orch-server.ts'
import { fill, withConnections, withFolder, withOrch } from '../shared-server.ts'

const rbac = 'rbac.authorization.orch.io'
const target = '/api/v1/namespaces/default/configmaps/bench-000000'
const connectionCount = 64
const rounds = 5
const durationMs = 1500
const bindings = 1_000

/** The OpenID provider's files that a server needs: the discovery document and the key. */
async function aProvider(folder: string) {
  const authority = await anAuthority('bench-authority')
  const { certificate, key } = await aCertificate({ issuer: authority, commonName: 'bench-provider', use: 'server' })
  const signingKey = generateSigningKey()
  const jwk = { ...createPublicKey(signingKey).export({ format: 'jwk' }), kid: 'bench', use: 'sig', alg: 'ES256' }
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const document = request.url === '/keys' ? { keys: [jwk] } : { issuer, jwks_uri: `${issuer}/keys` }
    response.end(JSON.stringify(document))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const caFile = join(folder, 'provider.crt')
  writeFileSync(caFile, authority.certificate)
  const nowSeconds = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer, aud: 'bench', sub: 'jane', iat: nowSeconds, exp: nowSeconds + 3600 }
  const text = [{ alg: 'ES256', kid: 'bench' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const signature = sign('sha256', Buffer.from(text), { key: signingKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return {
    flags: [`--oidc-issuer-url=${issuer}`, '--oidc-client-id=bench', `--oidc-ca-file=${caFile}`, '--oidc-signing-algs=ES256'],
    token: `${text}.${signature}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

async function post(connection: Connection, path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await connection.send(bodyRequest('POST', path, body), true)
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.body}`)
  return JSON.parse(String(answer.body)) as Record<string, unknown>
}

/** Creates a service account; returns its token. */
async function accountToken(connection: Connection): Promise<string> {
  const accounts = '/api/v1/namespaces/default/serviceaccounts'
  await post(connection, accounts, { metadata: { name: 'bench' } })
  const { status } = await post(connection, `${accounts}/bench/token`, { spec: {} })
  return (status as { token: string }).token
}

/** Creates bindings of this number of users; the requests come from the last user. */
async function bind(connection: Connection): Promise<void> {
  for (let index = 0; index < bindings; index++) {
    const name = index === bindings - 1 ? 'static' : `user-${index}`
    await post(connection, `/apis/${rbac}/v1/namespaces/default/rolebindings`, {
      metadata: { name: `bench-${index}` },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'User', apiGroup: rbac, name }],
    })
  }
}

/** One form of request: the number of answers, and the server's CPU time. */
class Asking {
  readonly #server: OrchServer
  readonly #connections: readonly Connection[]
  readonly #request: string
  #cpuMicros = 0
  #count = 0
  best = 0

  /** Uses connections that show a certificate, or else this token. */
  constructor(server: OrchServer, connections: readonly Connection[], token?: string) {
    this.#server = server
    this.#connections = connections
    this.#request = getRequest(target, token === undefined ? {} : { authorization: `Bearer ${token}` })
  }

  async round(): Promise<void> {
    const before = this.#server.child.cpuMicros()
    const { perSecond, count } = await loadHttp1(this.#connections, () => this.#request, { durationMs, expected: 200 })
    this.#cpuMicros += this.#server.child.cpuMicros() - before
    this.#count += count
    this.best = Math.max(this.best, perSecond)
  }

  get cpuMicros(): number {
    return this.#cpuMicros / this.#count
  }
}

function figureOf(label: string, ours: Asking, base: Asking, floor: string): Figure & { label: string } {
  const note = `floor: ${floor}, ${base.cpuMicros.toFixed(1)} µs of CPU`
  const ratio = ours.best / base.best
  return {
    label,
    value: ours.best,
    floor: base.best,
    unit: 'req/s',
    ratio,
    target: 0.85,
    goal: 0.95,
    better: 'more',
    cpuMicros: ours.cpuMicros,
    note,
  }
}

const overCertificate = 'a client certificate and AlwaysAllow'

async function measure(open: OrchServer, bound: OrchServer, unfair: OrchServer, oidcToken: string) {
  const servers = [open, bound, unfair]
  for (const server of servers) await fill(server, 1, 3000)
  const account = await withConnections(1, open.port, open, ([one]) => accountToken(one as Connection))
  await withConnections(1, bound.port, bound, ([one]) => bind(one as Connection))
  const strangers = (server: OrchServer, use: (connections: Connection[]) => Promise<readonly Figure[]>) =>
    withConnections(connectionCount, server.port, { ca: server.ca }, use)
  return withConnections(connectionCount, open.port, open, (certified) =>
    withConnections(connectionCount, unfair.port, unfair, (plain) =>
      strangers(open, (tokens) =>
        strangers(bound, async (judged) => {
          const sides = () => [
            new Asking(open, certified),
            new Asking(open, tokens, 'static'),
            new Asking(open, tokens, account),
            new Asking(open, tokens, oidcToken),
            new Asking(bound, judged, 'static'),
            new Asking(unfair, plain),
          ]
          // Before the measurement, the server compiles its code and learns the tokens.
          for (const side of sides()) await side.round()
          const measured = sides()
          await alternate(
            rounds,
            measured.map((side) => () => side.round()),
          )
          const [base, file, own, oidc, roles, off] = measured as [Asking, Asking, Asking, Asking, Asking, Asking]
          return [
            figureOf('static token', file, base, overCertificate),
            figureOf('service account', own, base, overCertificate),
            figureOf('OIDC', oidc, base, overCertificate),
            figureOf('RBAC, 1,000 bindings', roles, file, 'the same token with AlwaysAllow'),
            figureOf('priority and fairness', base, off, 'a server without it'),
          ]
        }),
      ),
    ),
  )
}

export const identityLine: Line = {
  name: 'identity',
  what: 'GET one 3 KB object with each kind of credential, cached, and with roles, beside a certificate where everything is allowed',
  run: () =>
    withFolder(async (folder) => {
      const provider = await aProvider(folder)
      const tokens = join(folder, 'tokens.csv')
      writeFileSync(tokens, 'static,static,1\n')
      const flags = [...provider.flags, `--token-auth-file=${tokens}`]
      const allowing = [...flags, '--authorization-mode=AlwaysAllow']
      try {
        return await withOrch({ memory: true, flags: allowing }, (open) =>
          withOrch({ memory: true, flags }, (bound) =>
            withOrch({ memory: true, flags: [...allowing, '--enable-priority-and-fairness=false'] }, (unfair) =>
              measure(open, bound, unfair, provider.token),
            ),
          ),
        )
      } finally {
        provider.close()
      }
    }),
}
