import type { ApiObject } from '@orch/core/meta'
import { namesOf } from '@orch/core/names'
import { systemChance } from '@orch/platform'
import { InProcessExchange } from '../exchange/in-process.ts'
import { createDraws } from '../request/draws.ts'
import { createNegotiator } from '../request/negotiate.ts'
import { GatewayRequest } from '../request/request.ts'
import { parseRequestInfo } from '../request/request-info.ts'
import type { Served } from '../target/target.ts'
import { type ChangeDraft, Draft, type NewDraft, type PlannedWrite } from './draft.ts'

interface DraftOptions {
  readonly served: Served
  /** The object as its writer sent it. */
  readonly object: ApiObject
  readonly subresource?: string | undefined
  /** On the monotonic clock; the request has a minute unless given. */
  readonly deadlineMs?: number
}

const path = '/api/v1/namespaces/n/things'

/** A request that belongs to user `u`. */
function aRequest(deadlineMs: number): GatewayRequest {
  const exchange = new InProcessExchange({ method: 'POST', path, headers: {} }, { kind: 'internal', name: 'u', groups: [] })
  const request = new GatewayRequest(exchange, 0, {
    requestTimeoutMs: deadlineMs,
    pathPrefix: '',
    negotiator: createNegotiator(namesOf('orch')),
    draws: createDraws(systemChance),
  })
  request.user = { name: 'u', uid: '', groups: [], extra: {} }
  return request
}

function aWrite({ served, subresource, deadlineMs = 60_000 }: DraftOptions): PlannedWrite {
  const info = parseRequestInfo({ method: 'POST', path, isWatch: false })
  if (info.kind !== 'resource') throw new Error(`${path} is no path of a resource`)
  return {
    id: 'w',
    request: aRequest(deadlineMs),
    target: { info, served, subresource: subresource === undefined ? undefined : served.subresource(subresource), keyPrefix: 'things/n/' },
    name: '',
    options: { isDryRun: false, fieldManager: '', fieldValidation: 'Ignore', isForced: false },
    optionsObject: {},
    decide: () => {
      throw new Error('the intent of this write is not asked for')
    },
  }
}

/** A draft of an object that is not there yet. */
export function aNewDraft(options: DraftOptions): NewDraft {
  return new Draft(aWrite(options), undefined, { object: options.object, hasBigIntegers: false, body: options.object })
}

export function aChangeDraft({ live, ...options }: DraftOptions & { readonly live: ApiObject }): ChangeDraft {
  const value = Buffer.from(JSON.stringify(live))
  const entry = { key: 'things/n/a', revision: 7, value, metadataStart: 0, metadataEnd: 0, writeId: 'v' }
  const before = { object: live, isAsDecoded: false, hasBigIntegers: false, entry }
  return new Draft(aWrite(options), before, { object: options.object, hasBigIntegers: false, body: options.object })
}
