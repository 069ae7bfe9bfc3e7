import { once } from 'node:events'
import { createServer, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { type Metadata, Server, ServerCredentials, type ServiceDefinition, status, type UntypedHandleCall } from '@grpc/grpc-js'
import { createFakeClock } from '@orch/testkit'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { limits } from '../limits.ts'
import { createEtcdClient, readSurely } from './client.ts'
import { openWatch } from './watch.ts'
import type { WatchAnswer } from './wire.ts'

interface Call {
  readonly request: Buffer
  getDeadline(): Date | number
}
type Answer = (error: { code: number; details: string } | null, bytes?: Buffer) => void

/** A server that takes calls like etcd, and answers each with nothing or with an error that the test sets. */
async function openMember() {
  const asked: { readonly method: string; readonly leftMs: number; readonly bytes: string }[] = []
  const errors = new Map<string, string[]>()
  const watchedWith: unknown[] = []
  const bytesAsTheyAre = {
    requestSerialize: (bytes: Buffer) => bytes,
    requestDeserialize: (bytes: Buffer) => bytes,
    responseSerialize: (bytes: Buffer) => bytes,
    responseDeserialize: (bytes: Buffer) => bytes,
  }
  const server = new Server()
  const serve = (service: string, methods: readonly string[]) => {
    const definition: Record<string, ServiceDefinition[string]> = {}
    const handlers: Record<string, UntypedHandleCall> = {}
    for (const method of methods) {
      definition[method] = { path: `/etcdserverpb.${service}/${method}`, requestStream: false, responseStream: false, ...bytesAsTheyAre }
      handlers[method] = ((call: Call, answer: Answer) => {
        asked.push({ method, leftMs: Number(call.getDeadline()) - Date.now(), bytes: call.request.toString('hex') })
        const details = errors.get(method)?.shift()
        if (details === undefined) answer(null, Buffer.alloc(0))
        else answer({ code: details.includes('token') ? status.UNAUTHENTICATED : status.UNAVAILABLE, details })
      }) as UntypedHandleCall
    }
    server.addService(definition, handlers)
  }
  serve('KV', ['Range', 'Put', 'DeleteRange', 'Txn', 'Compact'])
  serve('Lease', ['LeaseGrant', 'LeaseRevoke'])
  serve('Maintenance', ['Status'])
  server.addService(
    { Watch: { path: '/etcdserverpb.Watch/Watch', requestStream: true, responseStream: true, ...bytesAsTheyAre } },
    {
      Watch: (stream: { metadata: Metadata; on(event: 'data', take: (bytes: Buffer) => void): void; write(bytes: Buffer): void }) => {
        watchedWith.push(...stream.metadata.get('hasleader'))
        stream.on('data', (bytes) => {
          asked.push({ method: 'Watch', leftMs: Number.POSITIVE_INFINITY, bytes: bytes.toString('hex') })
          stream.write(Buffer.from('0a021805', 'hex'))
        })
      },
    },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) => (error === null ? resolve(bound) : reject(error)))
  })
  onTestFinished(() => server.forceShutdown())
  return { asked, errors, watchedWith, address: `http://127.0.0.1:${port}` }
}

async function open() {
  const member = await openMember()
  const client = createEtcdClient({ servers: [member.address] })
  onTestFinished(() => client.close())
  return { ...member, client }
}

describe('the addresses of etcd', () => {
  const create = (server: string, insecureTransport?: boolean) => createEtcdClient({ servers: [server], insecureTransport }).close()

  test('must not be empty', () => {
    expect(() => createEtcdClient({ servers: [] })).toThrow('no address of etcd is given')
  })

  test.each(['etcd', 'etcd:2379', 'ftp://etcd:2379', 'unix:///run/etcd', 'xhttps://etcd:2379'])('may not be %s', (server) => {
    expect(() => create(server)).toThrow(`the address of etcd must look like https://host:2379, not '${server}'`)
  })

  test.each([
    'http://etcd:2379',
    'http://localhost.example:2379',
    'http://my-localhost:2379',
    'http://x127.com:2379',
    'http://127.0.0.1.example:2379',
    'http://[::2]:2379',
  ])('need permission for an unencrypted connection: %s', (server) => {
    expect(() => create(server)).toThrow(`etcd at ${server} would be spoken to unencrypted`)
    expect(() => create(server, true)).not.toThrow()
  })

  test.each(['https://etcd:2379', 'http://localhost:2379', 'http://127.0.0.1:2379', 'http://127.10.200.30:2379', 'http://[::1]:2379'])(
    'may be %s',
    (server) => {
      expect(() => create(server)).not.toThrow()
    },
  )

  test('are each checked', () => {
    expect(() => createEtcdClient({ servers: ['https://etcd:2379', 'http://etcd:2379'] })).toThrow('unencrypted')
  })
})

test('MACH-OPS-06: each member reports that it answers, or the reason why it is unreachable', async () => {
  const { address, errors } = await openMember()
  errors.set('Range', ['etcdserver: no leader'])
  const client = createEtcdClient({ servers: [address, 'http://127.0.0.1:1', address] })
  onTestFinished(() => client.close())
  const [first = '', away = '', last = ''] = await client.members()
  expect([first, last].sort()).toEqual(['', expect.stringContaining('no leader')])
  expect(away).toContain('ECONNREFUSED')
})

test('MACH-OPS-06: a member that refuses a request counts as answering', async () => {
  const { address, errors } = await openMember()
  errors.set('Range', ['etcdserver: permission denied'])
  const client = createEtcdClient({ servers: [address] })
  onTestFinished(() => client.close())
  expect(await client.members()).toEqual([''])
})

describe('the timeout of a call', () => {
  const key = Buffer.from('a')
  type Client = Awaited<ReturnType<typeof open>>['client']
  const compare = [{ key, target: 'Mod' as const, result: 'Equal' as const, mod_revision: '1' }]

  test.each<[string, number, (client: Client) => Promise<unknown>]>([
    ['a range of one key', limits.etcdMemberTimeoutMs, (client) => client.kv.range({ key })],
    ['a range of many keys', limits.etcdCallTimeoutMs, (client) => client.kv.range({ key, range_end: Buffer.from('b') })],
    ['a put', limits.etcdMemberTimeoutMs, (client) => client.kv.put({ key, value: key })],
    ['a transaction with a guard', limits.etcdMemberTimeoutMs, (client) => client.kv.txn({ compare, success: [], failure: [] })],
    ['a transaction without one', limits.etcdCallTimeoutMs, (client) => client.kv.txn({ compare: [], success: [], failure: [] })],
    ['a compaction', limits.etcdCallTimeoutMs, (client) => client.kv.compact({ revision: '1' })],
    ['the state of a member', limits.etcdMemberTimeoutMs, (client) => client.maintenance.status()],
    ['a lease', limits.etcdMemberTimeoutMs, (client) => client.leaseClient.leaseGrant({ TTL: 1 })],
    ['a commit', limits.etcdMemberTimeoutMs, (client) => client.transact({ guards: [], puts: [], removes: [], looks: [] })],
  ])('of %s is %i ms', async (_what, expectedMs, call) => {
    const { client, asked } = await open()
    await vi.waitFor(async () => {
      asked.length = 0
      await call(client)
    }, 60_000)
    expect(asked).toHaveLength(1)
    // Client and server share a clock, but a call takes time. The two timeouts differ by much more.
    expect(asked[0]?.leftMs).toBeLessThanOrEqual(expectedMs + 5)
    if (expectedMs === limits.etcdCallTimeoutMs) expect(asked[0]?.leftMs).toBeGreaterThan(limits.etcdMemberTimeoutMs + 5)
  })
})

describe('a client of etcd', () => {
  test('checks the connections of commits, reads and watches by a transaction that changes nothing', async () => {
    const { client, asked } = await open()
    await client.check('a')
    // compare {equal, mod, key, the greatest revision}; failure {look, keys only}; no success.
    const looking = '0a10080010021a016130ffffffffffffff0f1a070a050a01614001'
    expect(asked.map(({ method, bytes }) => `${method} ${bytes}`)).toEqual(Array.from({ length: 3 }, () => `Txn ${looking}`))
  })

  test('requests the revision of etcd by a read of one key without its value, and renews an outdated token for that', async () => {
    const { client, asked, errors } = await open()
    errors.set('Range', ['etcdserver: revision of auth store is old'])
    await client.latestRevision(Buffer.from('a'))
    expect(asked.map(({ method }) => method)).toEqual(['Range', 'Range', 'Range'])
    expect(asked.map(({ bytes }) => bytes)).toEqual(['0a01614001', expect.any(String), '0a01614001'])
  })

  test('repeats a transaction with a new token if the old token is invalid, and only once', async () => {
    const { client, asked, errors } = await open()
    errors.set('Txn', ['etcdserver: invalid auth token'])
    await client.transact({ guards: [], puts: [], removes: [], looks: [] })
    expect(asked.map(({ method }) => method)).toEqual(['Txn', 'Range', 'Txn'])
    errors.set('Txn', ['etcdserver: invalid auth token', 'etcdserver: invalid auth token'])
    await expect(client.transact({ guards: [], puts: [], removes: [], looks: [] })).rejects.toThrow('invalid auth token')
  })

  test('renews a token after users or roles have changed like an invalid token', async () => {
    const { client, asked, errors } = await open()
    errors.set('Txn', ['etcdserver: revision of auth store is old'])
    await client.transact({ guards: [], puts: [], removes: [], looks: [] })
    expect(asked.map(({ method }) => method)).toEqual(['Txn', 'Range', 'Txn'])
  })

  test('announces wide receive windows to a member that it watches, for streams and for the connection', async () => {
    const member = createServer()
    const { promise: connected, resolve } = Promise.withResolvers<ServerHttp2Session>()
    member.on('session', resolve)
    member.listen(0, '127.0.0.1')
    await once(member, 'listening')
    const client = createEtcdClient({ servers: [`http://127.0.0.1:${(member.address() as AddressInfo).port}`] })
    onTestFinished(() => {
      client.close()
      member.close()
    })
    const stream = await client.follow({})
    stream.on('error', () => {})
    const session = await connected
    await expect
      .poll(() => [session.remoteSettings.initialWindowSize, session.state.remoteWindowSize])
      .toEqual([limits.etcdWindowBytes, limits.etcdWindowBytes])
    stream.cancel()
  })

  test('opens watches only at members that have a leader', async () => {
    const { client, watchedWith } = await open()
    const position = await new Promise<number>((resolve) => {
      const watch = openWatch(client, '/p/', 1, { onCreated: () => {}, onEvents: () => {}, onPosition: resolve, onEnd: () => {} })
      onTestFinished(() => watch.close())
    })
    expect([position, watchedWith]).toEqual([5, ['true']])
  })

  test('does not repeat a transaction that failed for another reason', async () => {
    const { client, asked, errors } = await open()
    errors.set('Txn', ['etcdserver: leader changed'])
    await expect(client.transact({ guards: [], puts: [], removes: [], looks: [] })).rejects.toThrow('leader changed')
    expect(asked.map(({ method }) => method)).toEqual(['Txn'])
  })

  test('watches a prefix over one stream, and reads its events', async () => {
    const { client, asked } = await open()
    const stream = await client.follow({})
    const told = new Promise<WatchAnswer>((resolve) => stream.on('data', resolve))
    stream.on('error', () => {})
    stream.write({ kind: 'position' })
    expect(await told).toMatchObject({ revision: 5, events: [] })
    expect(asked).toMatchObject([{ method: 'Watch', bytes: '1a00' }])
    stream.cancel()
  })

  test('skips a member without a leader until the member answers again', async () => {
    const [one, other] = [await openMember(), await openMember()]
    const clock = createFakeClock()
    const client = createEtcdClient({ servers: [one.address, other.address] }, clock)
    onTestFinished(() => client.close())
    const read = async (times: number) => {
      for (let time = 0; time < times; time += 1) await client.kv.range({ key: Buffer.from('a') }).catch(() => {})
    }
    one.errors.set('Range', ['etcdserver: no leader', 'etcdserver: no leader'])
    await vi.waitFor(async () => {
      await read(1)
      expect(one.asked).toHaveLength(1)
    }, 90_000)
    other.asked.length = 0
    await read(4)
    expect([one.asked.length, other.asked.length > 0]).toEqual([1, true])
    // Another client calls this server, which still has no leader.
    clock.advance(limits.etcdMemberLookMs)
    await vi.waitFor(() => expect([one.asked.length, clock.pendingTimers]).toEqual([2, 1]), 90_000)
    await read(4)
    expect(one.asked).toHaveLength(2)
    clock.advance(limits.etcdMemberLookMs)
    await vi.waitFor(() => expect(one.asked).toHaveLength(3), 90_000)
    await vi.waitFor(async () => {
      await read(1)
      expect(one.asked.length).toBeGreaterThan(3)
    }, 90_000)
  })
})

describe('a read', () => {
  const failing = (failures: readonly string[]) => {
    let count = 0
    const call = async () => {
      const message = failures[count++]
      if (message !== undefined) throw new Error(message)
      return 'read'
    }
    return { call, asked: () => count }
  }
  const away = '14 UNAVAILABLE: No connection established'

  test('is repeated after a member was unreachable', async () => {
    const { call, asked } = failing([away, '14 UNAVAILABLE: etcdserver: leader changed'])
    expect(await readSurely(call)).toBe('read')
    expect(asked()).toBe(3)
  })

  test('is repeated a bounded number of times, and then fails as a Status', async () => {
    const { call, asked } = failing(Array.from({ length: 9 }, () => away))
    await expect(readSurely(call)).rejects.toMatchObject({ code: 503 })
    expect(asked()).toBe(limits.etcdAttemptsMax)
  })

  test('is not repeated after etcd refuses it', async () => {
    const { call, asked } = failing(['11 OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted'])
    await expect(readSurely(call)).rejects.toMatchObject({ code: 410 })
    expect(asked()).toBe(1)
  })
})
