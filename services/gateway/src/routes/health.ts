import type { StorageService } from '@orch/core/contracts'
import type { Log } from '@orch/platform'
import type { HealthCheck } from '../health-check.ts'
import type { GatewayState } from '../state.ts'
import { bytesResponse, type DocumentHandler, plainText } from './document.ts'

/** What probes need. */
export interface HealthParts {
  readonly storage: Pick<StorageService, 'status'>
  /** What must be well beside the storage. */
  readonly checks: readonly HealthCheck[]
  readonly state: Pick<GatewayState, 'isClosing'>
  readonly log: Log
}

export type Probe = 'healthz' | 'livez' | 'readyz'

/** Answers a probe, or one check of it: `ok`, or which checks fail. Why one fails is in the log only. */
export function healthRoute(probe: Probe): DocumentHandler<HealthParts> {
  return async (context) => {
    const { request, parts } = context.env
    const name = ownName(context.req.param('check') ?? '')
    const excluded = new Set((request.query.get('exclude') ?? '').split(',').filter((one) => one !== ''))
    const isExcluded = new Set([...excluded].map(ownName))
    const checks = (name === storeCheck ? [storeOf(parts)] : checksOf(probe, parts)).filter((check) =>
      name === '' ? !isExcluded.has(check.name) : check.name === name,
    )
    if (name !== '' && checks.length === 0) return answer(404, '404 page not found\n')
    const results = await Promise.all(checks.map(async (check) => ({ name: check.name, problem: await problemOf(check) })))
    const failed = results.filter(({ problem }) => problem !== undefined)
    for (const { name: check, problem } of failed) parts.log.info({ probe, check, problem }, 'a health check has failed')
    if (failed.length === 0 && request.query.get('verbose') === undefined) return answer(200, 'ok')
    const lines = results.map(({ name: check, problem }) =>
      problem === undefined ? `[+]${check} ok` : `[-]${check} failed: reason withheld`,
    )
    if (name === '') lines.push(...[...excluded].map((one) => `[+]${one} excluded: ok`))
    const verdict = failed.length === 0 ? `${probe} check passed` : `${probe} check failed`
    return answer(failed.length === 0 ? 200 : 500, `${[...lines, verdict].join('\n')}\n`)
  }
}

function answer(status: number, text: string): Response {
  return bytesResponse(Buffer.from(text), { 'content-type': plainText, 'x-content-type-options': 'nosniff' }, status)
}

const storeCheck = 'storage'

/** Probes that were written for kube-apiserver ask for its store by its product's name. */
function ownName(name: string): string {
  return name === 'etcd' ? storeCheck : name
}

function storeOf({ storage }: HealthParts): HealthCheck {
  return {
    name: storeCheck,
    async check() {
      const { refusing } = await storage.status({})
      return refusing === '' ? undefined : refusing
    },
  }
}

/** A live server need not be ready: it may be starting, or on its way out. */
function checksOf(probe: Probe, parts: HealthParts): readonly HealthCheck[] {
  const { checks: others, state } = parts
  const ping: HealthCheck = { name: 'ping', check: () => undefined }
  if (probe === 'livez') return [ping]
  const checks = [ping, storeOf(parts), ...others]
  if (probe === 'healthz') return checks
  return [...checks, { name: 'shutdown', check: () => (state.isClosing ? 'the server is shutting down' : undefined) }]
}

/** The checks of a probe by name. */
export function checkNames(probe: Probe, parts: HealthParts): string[] {
  return checksOf(probe, parts).map(({ name }) => name)
}

async function problemOf(check: HealthCheck): Promise<string | undefined> {
  try {
    return await check.check()
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
