import { clausesOf, type GatewayRequest } from '../request/index.ts'
import { bytesResponse, type DocumentResponse } from './document.ts'

/** Metrics that are printed, in two formats. */
export interface PrintedMetrics {
  /** In the text format of Prometheus. */
  bytes(): Promise<Uint8Array>
  /** As length-delimited Prometheus Protobuf messages. */
  protobuf(): Promise<Uint8Array>
  /** The media type of the text. */
  readonly contentType: string
}

/** The first level whose media types say how characters of names are escaped. */
const escapingSince = 34
const escapings = ['allow-utf-8', 'underscores', 'dots', 'values']

const protobufType = 'application/vnd.google.protobuf'
const message = 'io.prometheus.client.MetricFamily'

/** Metrics as text, or as Protobuf for a client that prefers it. OpenMetrics is not supported, as in kube-apiserver. */
export async function metricsResponse(
  metrics: PrintedMetrics,
  { exchange }: Pick<GatewayRequest, 'exchange'>,
  level: number,
): Promise<DocumentResponse> {
  let escaping = 'underscores'
  for (const { type, parameters } of clausesOf(exchange.header('accept') ?? '')) {
    const wished = parameters.get('escaping')
    if (wished !== undefined && escapings.includes(wished)) escaping = wished
    const version = parameters.get('version') ?? ''
    if (type === 'text/plain' && (version === '' || version === '0.0.4')) break
    const isProtobuf = type === protobufType && parameters.get('proto') === message && parameters.get('encoding') === 'delimited'
    if (!isProtobuf) continue
    const contentType = `${protobufType}; proto=${message}; encoding=delimited`
    return bytesResponse(await metrics.protobuf(), { 'content-type': withEscaping(contentType, escaping, level) })
  }
  return bytesResponse(await metrics.bytes(), { 'content-type': withEscaping(metrics.contentType, escaping, level) })
}

function withEscaping(contentType: string, escaping: string, level: number): string {
  return level < escapingSince ? contentType : `${contentType}; escaping=${escaping}`
}
