import { badRequest, timeout } from '@orch/core/meta'
import { asBadRequest, type FaultRule, type Faults, type Members, printFault, readFault } from '@orch/gateway'
import { sleep, systemClock, toMs } from '@orch/platform'
import { object, type Route, readCount, route, unknownName } from './route.ts'

/** The longest wait for the hits of a fault. */
const waitMsMax = 300_000

/** `/faults`: the faults of the server. `endWeather` ends all other weather that callers began. */
export function faultRoutes(faults: Faults, endWeather: () => void): readonly Route[] {
  const named = (name: string): readonly FaultRule[] => {
    const rules = faults.list()
    const found = rules.filter((rule) => rule.name === name)
    if (found.length === 0) throw unknownName('fault', name, new Set(rules.map((rule) => rule.name)))
    return found
  }
  return [
    route('GET /faults', 'all faults with their hits', () => object({ items: faults.list().map(shown) })),
    route('POST /faults', 'adds a fault', ({ body }) => {
      if (body === undefined) throw badRequest('the body: must be a fault, such as {"effect":{"refuse":{"code":503}}}')
      const fault = readFault(body)
      const { name } = asBadRequest('fault', () => faults.add(fault))
      const rule = faults.list().findLast((one) => one.name === name)
      return object(rule === undefined ? {} : shown(rule), 201)
    }),
    route('DELETE /faults', 'removes all faults, also those of watches, and thaws all reads', () => {
      endWeather()
      faults.clear()
      return object({})
    }),
    route(
      'GET /faults/:name?hits&within',
      'a fault with its hits; ?hits=N waits until it has hit so many requests, ?within=10s at most',
      async (call) => {
        const name = call.param('name')
        const wanted = readCount(call, 'hits', { otherwise: 0, max: 1_000_000 })
        const within = call.query.get('within') ?? '10s'
        const withinMs = Math.min(
          waitMsMax,
          asBadRequest('within', () => toMs('within', within)),
        )
        const rule = named(name).at(-1)
        if (rule === undefined) throw unknownName('fault', name, [])
        if (wanted > rule.hits) {
          await Promise.race([rule.hit(wanted).catch(() => {}), sleep(systemClock, withinMs, call.signal)])
          if (rule.hits < wanted) throw timeout(`the fault ${name} has hit ${rule.hits} of ${wanted} requests within ${within}`)
        }
        return object(shown(rule))
      },
    ),
    route('DELETE /faults/:name', 'removes a fault', ({ param }) => {
      const rules = named(param('name'))
      for (const rule of rules) rule.remove()
      return object({ hits: rules.reduce((sum, { hits }) => sum + hits, 0) })
    }),
  ]
}

function shown(rule: FaultRule) {
  return { name: rule.name, ...printFault(rule.fault), hits: rule.hits }
}

/** A duration from a body or a query, in milliseconds. */
export function readDuration(members: Members, name: string): string | number | undefined {
  const value = members.get(name)
  if (value === undefined || typeof value === 'number') return value
  const text = members.text(name) ?? ''
  asBadRequest(members.pathOf(name), () => toMs(name, text))
  return text
}
