import { writeFileSync } from 'node:fs'
import type { ApiObject } from '@orch/core/meta'
import { aCertificate, anAuthority } from '@orch/platform/any-certificate'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { canSharePorts } from '../../services/gateway/src/index.ts'
import { Distributor } from '../../services/watch/src/distributors.ts'
import { aFolder } from '../identity/folder.ts'
import { type Connection, get, maps, startThreaded, type ThreadedServer, textOf } from './threaded-server.ts'

const threads = ['first', 'other'] as const

/** Reads until the text has arrived. */
function untilText(body: AsyncIterable<Uint8Array>) {
  const chunks = body[Symbol.asyncIterator]()
  let seen = ''
  return async (text: string) => {
    while (!seen.includes(text)) {
      const { value, done } = await chunks.next()
      if (done === true) throw new Error(`the watch has ended without ${text}`)
      seen += Buffer.from(value).toString()
    }
  }
}
const aMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' } }) as ApiObject

describe.skipIf(!canSharePorts)('a server with two threads', () => {
  test('reloads the serving certificate in the first thread, for all threads', async () => {
    const authorities = [await anAuthority('before'), await anAuthority('after')] as const
    const pairs = await Promise.all(authorities.map((issuer) => aCertificate({ issuer, commonName: 'orch', use: 'server' })))
    const folder = aFolder()
    const write = (index: 0 | 1) => {
      const { certificate = '', key = '' } = pairs[index] ?? {}
      return [folder.write('serving.crt', certificate + authorities[index].certificate), folder.write('serving.key', key)] as const
    }
    const [certificateFile, keyFile] = write(0)
    const server = await startThreaded([`--tls-cert-file=${certificateFile}`, `--tls-private-key-file=${keyFile}`])
    const reachedWith = (certificateAuthority: string) => (thread: 'first' | 'other') =>
      server.connect(thread, { configuration: { certificateAuthority } }).then(
        () => true,
        () => false,
      )
    const [before, after] = authorities.map(({ certificate }) => reachedWith(certificate))
    for (const thread of threads) expect([await before?.(thread), await after?.(thread)]).toEqual([true, false])
    const look = server.holdEvery(5_000)
    write(1)
    look()
    // A thread that reads the files itself finds no change.
    write(0)
    for (const thread of threads) await expect.poll(() => after?.(thread)).toBe(true)
  })

  test('reloads client certificate authorities in the first thread, for all threads', async () => {
    const authorities = [await anAuthority('before'), await anAuthority('after')] as const
    const file = aFolder().write('clients.crt', authorities[0].certificate)
    const { certificate: clientCertificate, key: clientKey } = await aCertificate({
      issuer: authorities[1],
      commonName: 'jane',
      use: 'client',
    })
    const server = await startThreaded([`--client-ca-file=${file}`])
    const statusOf = async (thread: 'first' | 'other') => {
      const connection = await server.connect(thread, { configuration: { clientCertificate, clientKey } })
      const { status } = await get(connection, '/api')
      connection.close()
      return status
    }
    for (const thread of threads) expect(await statusOf(thread)).toBe(401)
    const look = server.holdEvery(5_000)
    writeFileSync(file, authorities[1].certificate)
    look()
    writeFileSync(file, authorities[0].certificate)
    for (const thread of threads) await expect.poll(() => statusOf(thread)).toBe(200)
  })

  test('loads the encryption configuration once, and objects of all threads are stored with its current key', async () => {
    const configuration = (...keys: readonly string[]) =>
      JSON.stringify({
        apiVersion: 'apiserver.config.orch.io/v1',
        kind: 'EncryptionConfiguration',
        resources: [
          {
            resources: ['secrets'],
            providers: [{ aesgcm: { keys: keys.map((name) => ({ name, secret: Buffer.alloc(32, name).toString('base64') })) } }],
          },
        ],
      })
    const file = aFolder().write('encryption.json', configuration('key1'))
    const server = await startThreaded([`--encryption-provider-config=${file}`, '--encryption-provider-config-automatic-reload'])
    const connections = [await server.connect('first'), await server.connect('other')] as const
    const keyOf = async ({ client }: Connection, name: string) => {
      await client.objects.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' } } as ApiObject)
      const record = await server.store.getAt(`core/secrets/default/${name}`, server.store.status().revision)
      return /k8s:enc:aesgcm:v1:(\w+):/.exec(Buffer.from(record?.value ?? []).toString('latin1'))?.[1]
    }
    for (const [index, connection] of connections.entries()) expect(await keyOf(connection, `before-${index}`)).toBe('key1')
    const look = server.holdEvery(10_000)
    writeFileSync(file, configuration('key2', 'key1'))
    look()
    const reloads = async (connection: Connection) =>
      /^apiserver_encryption_config_controller_automatic_reloads_total\{\S+,status="success"\} (\d+)/m.exec(
        (await get(connection, '/metrics')).text,
      )?.[1]
    for (const connection of connections) await expect.poll(() => reloads(connection)).toBe('1')
    for (const [index, connection] of connections.entries()) expect(await keyOf(connection, `after-${index}`)).toBe('key2')
    for (const { client } of connections) {
      for (const name of ['before-0', 'before-1', 'after-0', 'after-1']) {
        expect(await client.objects.get({ apiVersion: 'v1', kind: 'Secret', name, namespace: 'default' })).toMatchObject({
          metadata: { name },
        })
      }
    }
  })
})

describe.skipIf(!canSharePorts)('a server with two threads and no flags', () => {
  let server: ThreadedServer
  beforeAll(async () => {
    server = await startThreaded([], () => {})
    return () => server.stop()
  })

  test('evaluates and prints an event once for the watches of all threads', async () => {
    const connections = [await server.connect('first'), await server.connect('other')]
    const controller = new AbortController()
    onTestFinished(() => controller.abort())
    // The selector excludes the controllers' watches from the count.
    const path = `${maps}?watch=1&fieldSelector=metadata.name%3Dwatched`
    const { signal } = controller
    const watches = await Promise.all(
      [...connections, ...connections].map(({ transport }) => transport.send({ method: 'GET', path, headers: {}, signal })),
    )
    const texts = watches.map(({ body }) => untilText(body))
    const write = vi.spyOn(Distributor.prototype, 'write')
    onTestFinished(() => write.mockRestore())
    /** The number of times that the server serialized an event for watches that are up to date, once all have it; a lagging watch has a separate count. */
    const writesOf = async (round: number) => {
      write.mockClear()
      const body = JSON.stringify({ data: { round: `round-${round}` } })
      const headers = { 'content-type': 'application/merge-patch+json' }
      const { transport } = connections[round % 2] as Connection
      await textOf(await transport.send({ method: 'PATCH', path: `${maps}/watched`, headers, body }))
      for (const until of texts) await until(`"round-${round}"`)
      const writers = write.mock.calls.flatMap(([, , , frames], index) => {
        const distributor = write.mock.contexts[index] as Distributor
        return frames === distributor.frames ? [distributor.filter.key] : []
      })
      return writers.filter((key) => key.includes('"watched"')).length
    }
    await connections[1]?.client.objects.create(aMap('watched'))
    for (const until of texts) await until('"ADDED"')
    let count = 0
    for (let round = 1; count === 0; round += 1) count = await writesOf(round)
    expect(count).toBe(1)
  })

  test('probes the server of an APIService in one thread, which counts its absence', async () => {
    const [first, other] = [await server.connect('first'), await server.connect('other')]
    const service = { namespace: 'default', name: 'absent' }
    const spec = { group: 'flavors.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 15, service }
    await other.client.objects.create({
      apiVersion: 'apiregistration.orch.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1.flavors.example.com' },
      spec: { ...spec, insecureSkipTLSVerify: true },
    } as unknown as ApiObject)
    const flavors = '/apis/flavors.example.com/v1/flavors'
    for (const connection of [first, other]) {
      await expect.poll(() => get(connection, flavors)).toMatchObject({ status: 503, text: 'service unavailable\n' })
    }
    const count = async () =>
      /^aggregator_unavailable_apiservice_total\{name="v1.flavors.example.com",reason="ServiceNotFound"\} (\d+)/m.exec(
        (await get(other, '/metrics')).text,
      )?.[1]
    await expect.poll(count).toBe('1')
  })
})
