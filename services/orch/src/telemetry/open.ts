import { noTracer, SettingsError, type Tracer } from '@orch/platform'
import type { Surroundings } from '../surroundings.ts'
import { productVersion } from '../version.ts'

/** The receiver of a process's spans, until the process ends. */
export interface Telemetry {
  readonly tracer: Tracer
  /** Sends the waiting spans. Called when no more spans are created. */
  close(): Promise<void>
}

export interface TelemetryOptions extends Pick<Surroundings, 'clock' | 'log'> {
  /** `gateway`; spans name the service `orch-gateway` unless the environment gives a name. */
  readonly service: string
  readonly env: Readonly<Record<string, string | undefined>>
}

const exporters = ['otlp', 'console', 'none']
const samplers = ['always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio']
const protocols = ['grpc', 'http/json', 'http/protobuf']

/** Variables whose unknown values the SDK would ignore. */
const known: Readonly<Record<string, readonly string[]>> = {
  OTEL_TRACES_EXPORTER: exporters,
  OTEL_TRACES_SAMPLER: samplers,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocols,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: protocols,
}

/** Tracing by the standard OpenTelemetry variables. Loads its code only if they switch tracing on. */
export async function openTelemetry({ service, env, clock, log }: TelemetryOptions): Promise<Telemetry> {
  checkValues(env)
  if (!isTracingOn(env)) return { tracer: noTracer, close: async () => {} }
  const sdk = await import('@orch/platform/telemetry')
  const isNamed = env['OTEL_SERVICE_NAME'] || /(?:^|,)\s*service\.name=/.test(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '')
  return sdk.openTelemetry({ serviceName: isNamed ? undefined : `orch-${service}`, version: productVersion, clock, log })
}

/** True if an exporter or a collector is named, and no variable disables tracing. */
export function isTracingOn(env: TelemetryOptions['env']): boolean {
  if (env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return false
  const exporter = env['OTEL_TRACES_EXPORTER'] ?? ''
  if (exporter !== '') return !listed(exporter).includes('none')
  return Boolean(env['OTEL_EXPORTER_OTLP_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'])
}

function checkValues(env: TelemetryOptions['env']): void {
  for (const [name, allowed] of Object.entries(known)) {
    const strange = listed(env[name] ?? '').find((value) => !allowed.includes(value))
    if (strange !== undefined) throw new SettingsError(`${name}: expected one of ${allowed.join(', ')}, got ${JSON.stringify(strange)}`)
  }
  const ratio = env['OTEL_TRACES_SAMPLER_ARG'] ?? ''
  if (ratio !== '' && !(Number(ratio) >= 0 && Number(ratio) <= 1)) {
    throw new SettingsError(`OTEL_TRACES_SAMPLER_ARG: expected a number from 0 to 1, got ${JSON.stringify(ratio)}`)
  }
}

function listed(text: string): string[] {
  return text
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '')
}
