import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One span as a collector receives it. */
export interface ReceivedSpan {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  /** 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly attributes: Readonly<Record<string, unknown>>
  readonly startNs: bigint
  readonly endNs: bigint
}

/** A test collector for OTLP over HTTP in JSON. */
export type Collector = Awaited<ReturnType<typeof openCollector>>

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly boolValue?: boolean }
}
type OtlpSpan = Omit<ReceivedSpan, 'service' | 'attributes' | 'startNs' | 'endNs' | 'links' | 'parentSpanId'> & {
  readonly attributes?: readonly Attribute[]
  readonly links?: ReceivedSpan['links']
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
}
interface OtlpRequest {
  readonly resourceSpans?: readonly {
    readonly resource?: { readonly attributes?: readonly Attribute[] }
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[]
  }[]
}

/** Listens on a free port of this machine. */
export async function openCollector() {
  const spans: ReceivedSpan[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      spans.push(...spansOf(JSON.parse(body) as OtlpRequest))
      for (const look of [...waiting]) look()
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    /** The first span that the predicate accepts, as soon as it has arrived. Rejects with the names of all spans after `withinMs`. */
    async find(accepts: (span: ReceivedSpan) => boolean, withinMs = 60_000) {
      const { promise, resolve, reject } = Promise.withResolvers<ReceivedSpan>()
      const look = () => {
        const found = spans.find(accepts)
        if (found !== undefined) resolve(found)
      }
      const late = setTimeout(() => reject(new Error(`no such span has arrived, only: ${namesOf(spans)}`)), withinMs)
      waiting.add(look)
      look()
      try {
        return await promise
      } finally {
        clearTimeout(late)
        waiting.delete(look)
      }
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function namesOf(spans: readonly ReceivedSpan[]): string {
  return [...new Set(spans.map(({ service, name }) => `${service} ${name}`))].join(', ')
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

function spansOf({ resourceSpans = [] }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans = [] }) => {
    const service = String(toRecord(resource?.attributes)['service.name'])
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => toReceived(service, span)))
  })
}

function toReceived(service: string, span: OtlpSpan): ReceivedSpan {
  const { name, traceId, spanId, parentSpanId = '', kind, links = [], attributes, startTimeUnixNano, endTimeUnixNano } = span
  const times = { startNs: BigInt(startTimeUnixNano), endNs: BigInt(endTimeUnixNano) }
  return { service, name, traceId, spanId, parentSpanId, kind, links, attributes: toRecord(attributes), ...times }
}

function toRecord(attributes: readonly Attribute[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.boolValue]))
}
