import type { ExecRequest, NodesService, SessionPart, Stream } from '@orch/core/contracts'
import { describe, expect, test, vi } from 'vitest'

/** A nodes service with a Pod `web` on node `n`. Its container accepts the commands `cat`, `exit CODE` and `yes`. */
export interface NodesSuiteServices {
  readonly nodes: NodesService
}

/** Calls may take long on a busy machine. */
const within = { timeout: 90_000 }
const pod = { node: 'n', namespace: 'default', name: 'web', uid: 'u' }
const streams = { stdin: true, stdout: true, stderr: true, tty: false }

function anExec(...command: readonly string[]): ExecRequest {
  return { pod, container: 'c', command, ...streams }
}

type Opened = Awaited<ReturnType<typeof opened>>

async function opened(stream: Stream<SessionPart>) {
  const parts = stream[Symbol.asyncIterator]()
  const { value } = await parts.next()
  if (value?.kind !== 'opened') throw new Error(`expected the session to be opened, got ${JSON.stringify(value)}`)
  return { session: value.session, parts, close: () => stream.close() }
}

/** The output as text, and the exit status. */
async function drained({ parts }: Opened): Promise<{ readonly stdout: Buffer; readonly code: number | undefined }> {
  const stdout: Uint8Array[] = []
  let code: number | undefined
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
    if (next.value.kind === 'stdout') stdout.push(next.value.bytes)
    if (next.value.kind === 'exit') code = next.value.code
  }
  return { stdout: Buffer.concat(stdout), code }
}

/** The contract of the nodes service, for any transport between it and its callers. */
export function nodesSuite(name: string, open: () => Promise<{ services: NodesSuiteServices; close: () => Promise<void> }>): void {
  const withNodes = (body: (nodes: NodesService) => Promise<void>) => async () => {
    const { services, close } = await open()
    try {
      await body(services.nodes)
    } finally {
      await close()
    }
  }

  describe(`nodes: ${name}`, () => {
    test(
      'NODE-IO: a session takes input in its order, gives output in its order, and ends with the exit status',
      withNodes(async (nodes) => {
        const session = await opened(nodes.exec(anExec('cat')))
        const given = Buffer.concat(Array.from({ length: 64 }, (_, index) => Buffer.alloc(64 * 1024, index)))
        const output = drained(session)
        for (let at = 0; at < given.length; at += 64 * 1024) {
          await nodes.input({ session: session.session, input: { kind: 'stdin', bytes: given.subarray(at, at + 64 * 1024) } })
        }
        await nodes.input({ session: session.session, input: { kind: 'end' } })
        const { stdout, code } = await output
        expect(code).toBe(0)
        expect(stdout.equals(given)).toBe(true)
        expect(await drained(await opened(nodes.exec(anExec('exit', '3'))))).toMatchObject({ code: 3 })
      }),
    )

    test(
      'NODE-IO: a session ends when its reader closes it, and accepts no input afterwards',
      withNodes(async (nodes) => {
        const endless = await opened(nodes.exec(anExec('yes')))
        expect(await endless.parts.next()).toMatchObject({ value: { kind: 'stdout' } })
        endless.close()
        const input = () => nodes.input({ session: endless.session, input: { kind: 'end' } })
        await vi.waitFor(() => expect(input()).rejects.toMatchObject({ reason: 'NotFound' }), within)
      }),
    )

    test(
      'NODE-MET-01: samples arrive in order, and the stream ends',
      withNodes(async (nodes) => {
        const objects: object[] = []
        const request = { resource: 'pods', namespace: 'default', name: '' }
        for await (const part of nodes.metrics(request))
          objects.push(...part.objects.map((bytes) => JSON.parse(Buffer.from(bytes).toString())))
        expect(objects).toEqual(['a', 'b'].map((name) => ({ ...request, name })))
      }),
    )

    test(
      'NODE-IO: a failure of a session, a log or a request is the Status of the node',
      withNodes(async (nodes) => {
        const elsewhere = { ...pod, node: 'm' }
        const missing = { code: 404, reason: 'NotFound', message: 'nodes "m" not found' }
        const log = { container: 'c', follow: false, previous: false, timestamps: false, stream: 'All' }
        await expect(drained(await opened(nodes.exec(anExec('fail'))))).rejects.toMatchObject({
          code: 500,
          message: 'Internal error occurred: cannot run fail',
        })
        await expect(opened(nodes.exec({ ...anExec('cat'), pod: elsewhere }))).rejects.toMatchObject(missing)
        await expect(
          nodes
            .logs({ ...log, pod: elsewhere })
            [Symbol.asyncIterator]()
            .next(),
        ).rejects.toMatchObject(missing)
        await expect(nodes.request({ node: 'm', path: '/healthz' })).rejects.toMatchObject(missing)
      }),
    )
  })
}
