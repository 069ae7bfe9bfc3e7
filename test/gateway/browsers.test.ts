import { readFileSync } from 'node:fs'
import { connect, type TLSSocket } from 'node:tls'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { createFakeClock } from '@orch/testkit'
import { start } from 'orch'
import { describe, expect, onTestFinished, test } from 'vitest'
import { InProcessExchange } from '../../services/gateway/src/exchange/in-process.ts'
import { anApi } from '../api/api.ts'
import { aFolder } from '../identity/folder.ts'
import { aGateway, collection } from './own-gateway.ts'

const started = (flags: string[]) => start({ controllers: [], flags }).then((server) => void onTestFinished(() => server.stop()))

describe('browsers', () => {
  const origin = 'https://shop.example.com'
  const flags = ['--cors-allowed-origins=//[a-z]+\\.example\\.com(:|$)']
  const allowed = {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'POST, GET, OPTIONS, PUT, DELETE, PATCH',
    'access-control-allow-headers':
      'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since, Accept, If-None-Match, Impersonate-User, Impersonate-Uid, Impersonate-Group, Audit-Id, Traceparent, orch-explain',
    'access-control-expose-headers': 'Date',
    'access-control-allow-credentials': 'true',
  }

  test('--cors-allowed-origins: an allowed origin gets the headers, also in errors, and another origin gets none', async () => {
    const api = await anApi({ flags })
    expect((await api.get('/version', { origin })).headers).toMatchObject(allowed)
    const missing = await api.get('/api/v1/namespaces/none', { origin })
    expect([missing.status, missing.headers['access-control-allow-origin']]).toEqual([404, origin])
    for (const other of ['https://example.org', 'https://shop.example.com.evil.org', `https://${'a'.repeat(300)}.example.com`]) {
      expect((await api.get('/version', { origin: other })).headers).not.toHaveProperty('access-control-allow-origin')
    }
    expect((await api.get('/version')).headers).not.toHaveProperty('access-control-allow-origin')
  })

  test('--cors-allowed-origins: a preflight request is answered without credentials, with no content', async () => {
    const api = await anApi({ flags, anonymousAuth: false })
    const ask = api.as({})
    const { status, headers, text } = await ask('OPTIONS', '/api/v1/pods', { headers: { origin } })
    expect({ status, text }).toEqual({ status: 204, text: '' })
    expect(headers).toMatchObject(allowed)
    expect(headers).not.toHaveProperty('content-length')
    expect((await ask('OPTIONS', '/api/v1/pods', { headers: { origin: 'https://example.org' } })).status).toBe(401)
    expect((await ask('GET', '/api/v1/pods', { headers: { origin } })).status).toBe(401)
  })

  test('get no CORS headers without the flag', async () => {
    const { headers } = await (await anApi()).get('/version', { origin })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control') || name.startsWith('strict'))).toEqual([])
  })

  test.each([
    ['example.com', 'must pin the start and the end of the host'],
    ['//example.com', 'must pin the start and the end of the host'],
    ['example.com$', 'must pin the start and the end of the host'],
    ['//(example.com$', 'is not a regular expression'],
  ])('--cors-allowed-origins=%s is refused', async (text, reason) => {
    await expect(started([`--cors-allowed-origins=${text}`])).rejects.toThrow(`--cors-allowed-origins=${text}: ${reason}`)
  })

  test('--strict-transport-security-directives: every answer has the directives', async () => {
    const api = await anApi({ flags: ['--strict-transport-security-directives=max-age=31536000,includeSubDomains,preload'] })
    for (const path of ['/version', '/nothing', '/livez']) {
      expect((await api.get(path)).headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains; preload')
    }
  })

  test.each(['max-age', 'max-age=x', 'includesubdomains'])('--strict-transport-security-directives=%s is refused', async (text) => {
    await expect(started([`--strict-transport-security-directives=${text}`])).rejects.toThrow(
      `--strict-transport-security-directives=${text}: must be max-age=SECONDS, includeSubDomains or preload`,
    )
  })
})

describe('--tls-sni-cert-key', () => {
  /** The files of a certificate with these names. */
  async function writtenPair(commonName: string, dnsNames: readonly string[] = []) {
    const authority = await anAuthority(commonName)
    const pair = await aCertificate({ issuer: authority, commonName, use: 'server', ...(dnsNames.length === 0 ? {} : { dnsNames }) })
    const folder = aFolder()
    return { files: `${folder.write('tls.crt', pair.certificate)},${folder.write('tls.key', pair.key)}`, folder, authority }
  }

  /** The common name of the certificate that a server shows to a client with this SNI. */
  function shownFor(url: string, servername: string | undefined): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: Number(new URL(url).port), rejectUnauthorized: false }
      const socket: TLSSocket = connect({ ...options, ...(servername === undefined ? {} : { servername }) }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN))
        socket.destroy()
      })
      socket.on('error', reject)
    })
  }

  test('selects the certificate of a name: exact names before wildcards of one label', async () => {
    const [first, second, third] = [await writtenPair('first'), await writtenPair('second'), await writtenPair('third')]
    const flags = [first, second, third].map(({ files }, index) => {
      const names = ['a.example.com,b.example.com', '*.example.com,a.example.com', 'example.com'][index]
      return `--tls-sni-cert-key=${files}:${names}`
    })
    const server = await start({ controllers: [], flags })
    onTestFinished(() => server.stop())
    const names = ['a.example.com', 'B.example.com', 'c.example.com', 'example.com']
    expect(await Promise.all(names.map((name) => shownFor(server.url, name)))).toEqual(['first', 'first', 'second', 'third'])
    const others = await Promise.all(['d.c.example.com', 'example.org', undefined].map((name) => shownFor(server.url, name)))
    expect(others.filter((one) => ['first', 'second', 'third'].includes(one))).toEqual([])
  })

  test('uses the names of the certificate by default, and a new certificate in its files', async () => {
    const pair = await writtenPair('own', ['own.example.com'])
    const clock = createFakeClock()
    const server = await start({ controllers: [], clock, flags: [`--tls-sni-cert-key=${pair.files}`] })
    onTestFinished(() => server.stop())
    expect(await shownFor(server.url, 'own.example.com')).toBe('own')
    const next = await aCertificate({ issuer: pair.authority, commonName: 'next', use: 'server', dnsNames: ['next.example.com'] })
    pair.folder.write('tls.crt', next.certificate)
    pair.folder.write('tls.key', next.key)
    clock.advance(5_000)
    expect(await shownFor(server.url, 'next.example.com')).toBe('next')
  })

  test.each(['a.crt', 'a.crt,a.key,b.crt', 'a.crt,a.key:', 'a.crt,a.key:*.*.com', 'a.crt,a.key:a_b'])('refuses %s', async (text) => {
    await expect(started([`--tls-sni-cert-key=${text}`])).rejects.toThrow(`--tls-sni-cert-key=${text}: must be the files of a certificate`)
  })

  test('refuses an absent file, and a key of another certificate, by name', async () => {
    const [first, second] = [await writtenPair('first'), await writtenPair('second')]
    const [certificate, key] = [first.files.split(',')[0], second.files.split(',')[1]]
    await expect(started(['--tls-sni-cert-key=/none.crt,/none.key'])).rejects.toThrow(
      '--tls-sni-cert-key=/none.crt: the file cannot be read',
    )
    await expect(started([`--tls-sni-cert-key=${certificate},${key}`])).rejects.toThrow(`${key}: this is not the key of the certificate`)
    expect(readFileSync(String(key), 'utf8')).toContain('PRIVATE KEY')
  })
})

describe('--shutdown-send-retry-after', () => {
  /** A gateway that stops during a list, and its answer to an outside client. */
  async function aStoppingGateway(sendsRetryAfter: boolean) {
    const [asked, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { gateway, call, loadDefinitions } = await aGateway(
      (storage) => ({
        list(request, context) {
          const listed = storage.list(request, context)
          if (request.scope.resource !== 'core/configmaps') return listed
          asked.resolve()
          const late = (async function* () {
            await mayGoOn.promise
            yield* listed
          })()
          return Object.assign(late, { close: () => listed.close() })
        },
      }),
      { serving: { sendsRetryAfter }, anonymousAuth: { isAllowed: () => true } },
    )
    await loadDefinitions()
    await expect.poll(async () => (await call('GET', '/livez')).code).toBe(200)
    const open = call('GET', collection)
    await asked.promise
    const closed = gateway.close({ graceMs: 1 })
    const ask = async (path: string) => {
      const exchange = new InProcessExchange({ method: 'GET', path, headers: {} }, { kind: 'unknown' })
      gateway.handle(exchange)
      const { status, headers } = await exchange.response
      exchange.destroy()
      return { status, retryAfter: headers['retry-after'] }
    }
    return { ask, open, closed, release: () => mayGoOn.resolve() }
  }

  test('asks new requests to retry while earlier ones are finished, and answers probes', async () => {
    const { ask, open, closed, release } = await aStoppingGateway(true)
    expect(await ask('/api')).toEqual({ status: 429, retryAfter: '5' })
    expect(await ask('/livez')).toEqual({ status: 200, retryAfter: undefined })
    expect(await ask('/readyz')).toEqual({ status: 500, retryAfter: undefined })
    release()
    expect((await open).code).toBe(200)
    await closed
  })

  test('without the flag answers new requests until the port closes', async () => {
    const { ask, open, closed, release } = await aStoppingGateway(false)
    expect(await ask('/api')).toEqual({ status: 200, retryAfter: undefined })
    release()
    expect((await open).code).toBe(200)
    await closed
  })
})
