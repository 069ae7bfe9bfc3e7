import { badRequest, internal } from '@orch/core/meta'
import type { Clock } from '@orch/platform'
import { ProfilerBusyError, type Profilers } from '../profiles/profilers.ts'
import { type GatewayRequest, PlainRefusal, pageNotFound } from '../request/index.ts'
import { bytesResponse, type DocumentHandler } from './document.ts'

/** The dependencies of profiles. */
export interface PprofParts {
  readonly clock: Clock
  /** Undefined if no profiles are taken. */
  readonly profilers: Profilers | undefined
}

/** Default duration of a profile. */
const defaultSeconds = { profile: 30, heap: 10 }
const secondsMax = 60

/** `/debug/pprof/`: the list of profiles. */
export const pprofIndexRoute: DocumentHandler<PprofParts> = ({ parts }) => {
  if (parts.profilers === undefined) throw pageNotFound()
  return bytesResponse(Buffer.from(indexPage), { 'content-type': 'text/html; charset=utf-8' })
}

const indexPage = `<!doctype html>
<title>/debug/pprof/</title>
<h1>/debug/pprof/</h1>
<ul>
<li><a href="profile?seconds=30">profile</a>: where this process uses the processor, for ?seconds=30</li>
<li><a href="heap?seconds=10">heap</a>: what this process allocates and still uses, for ?seconds=10</li>
</ul>
<p>Both are gzipped profiles of pprof; with ?format=v8 those of V8, .cpuprofile and .heapprofile.</p>
`

/** `/debug/pprof/profile` and `/debug/pprof/heap`: a profile of the next seconds. */
export function profileRoute(which: 'profile' | 'heap'): DocumentHandler<PprofParts> {
  return async ({ request, parts }) => {
    if (parts.profilers === undefined) throw pageNotFound()
    const seconds = readSeconds(request, which)
    const format = request.query.get('format') ?? 'pprof'
    if (format !== 'pprof' && format !== 'v8') throw badRequest(`format=${format}: must be pprof or v8`)
    const gone = new AbortController()
    request.exchange.onClose(() => gone.abort())
    const time = { clock: parts.clock, durationMs: seconds * 1000, signal: gone.signal }
    try {
      const bytes = await parts.profilers.take(which, format, time)
      const name = format === 'pprof' ? `${which}.pb.gz` : `${which}.${which === 'heap' ? 'heapprofile' : 'cpuprofile'}`
      return bytesResponse(bytes, {
        'content-type': format === 'pprof' ? 'application/octet-stream' : 'application/json',
        'content-disposition': `attachment; filename="${name}"`,
        'x-content-type-options': 'nosniff',
      })
    } catch (error) {
      if (error instanceof ProfilerBusyError) throw new PlainRefusal(500, `Could not enable profiling: ${error.message}\n`)
      throw internal('the profile could not be taken', { cause: error })
    }
  }
}

function readSeconds({ query }: GatewayRequest, which: 'profile' | 'heap'): number {
  const text = query.get('seconds')
  if (text === undefined) return defaultSeconds[which]
  const seconds = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (seconds < 1 || seconds > secondsMax) throw badRequest(`seconds=${text}: must be a whole number from 1 to ${secondsMax}`)
  return seconds
}
