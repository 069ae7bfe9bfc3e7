import type { Log } from '@orch/platform'
import type { HealthResults } from '../server/health-results.ts'
import { bytesResponse, type DocumentHandler, type DocumentResponse, plainText } from './document.ts'
import { checksOf, type HealthCheckParts, type Probe, problemsOf } from './health-checks.ts'

/** The dependencies of probes. */
export type HealthParts = HealthCheckParts & {
  readonly log: Log
  readonly healthResults: Pick<HealthResults, 'note'>
}

/** Answers a probe: `ok`, or the failing checks. The reasons are only in the log. */
export function healthRoute(probe: Probe): DocumentHandler<HealthParts> {
  return async (context) => {
    const { request, parts } = context
    const all = checksOf(probe, parts)
    const excluded = new Set(request.query.all('exclude'))
    const asked = all.filter(({ name }) => !excluded.has(name))
    const problems = new Map((await problemsOf(asked, parts)).map((problem, index) => [asked[index]?.name ?? '', problem]))
    for (const [check, problem] of problems) {
      parts.healthResults.note(probe, check, problem === undefined)
      if (problem !== undefined) parts.log.info({ probe, check, problem }, 'a health check has failed')
    }
    const isWell = [...problems.values()].every((problem) => problem === undefined)
    if (isWell && request.query.get('verbose') === undefined) return answer(200, 'ok')
    const lines = all.map(({ name }) => {
      if (excluded.has(name)) return `[+]${name} excluded: ok`
      return problems.get(name) === undefined ? `[+]${name} ok` : `[-]${name} failed: reason withheld`
    })
    const unknown = [...excluded].filter((name) => !all.some((check) => check.name === name)).sort()
    if (unknown.length > 0)
      lines.push(`warn: some health checks cannot be excluded: no matches for ${unknown.map((name) => JSON.stringify(name)).join(',')}`)
    return answer(isWell ? 200 : 500, `${[...lines, `${probe} check ${isWell ? 'passed' : 'failed'}`].join('\n')}\n`)
  }
}

/** Answers one check of a probe. Users with the right to read this path see the reason of a failure. */
export function healthCheckRoute(probe: Probe): DocumentHandler<HealthParts> {
  return async (context) => {
    const { parts } = context
    const name = context.param('check')
    const check = checksOf(probe, parts).find((one) => one.name === name)
    if (check === undefined) return answer(404, '404 page not found\n')
    const [problem] = await problemsOf([check], parts)
    parts.healthResults.note(probe, name, problem === undefined)
    return problem === undefined ? answer(200, 'ok') : answer(500, `internal server error: ${problem}\n`)
  }
}

function answer(status: number, text: string): DocumentResponse {
  return bytesResponse(Buffer.from(text), { 'content-type': plainText, 'x-content-type-options': 'nosniff' }, status)
}

/** The checks of a probe by name. */
export function checkNames(probe: Probe, parts: HealthParts): string[] {
  return checksOf(probe, parts).map(({ name }) => name)
}
