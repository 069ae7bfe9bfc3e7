import { badRequest, StatusError } from '@orch/core/meta'
import { controlPath } from '@orch/core/names'
import { asBadRequest, type ControlAnswer, type ControlCall } from '@orch/gateway'

/** A call with the names in its path. */
export interface RoutedCall extends ControlCall {
  /** The part of the path with this name. */
  param(name: string): string
}

/** One call of a server's control. */
export interface Route {
  readonly method: string
  /** The path below the control's path; `:name` matches any part. */
  readonly path: string
  /** The parameters of the query; none by default. */
  readonly parameters?: readonly string[]
  /** True if the body may be a stream of lines or a file. */
  readonly takesStream?: true
  readonly doc: string
  handle(call: RoutedCall): ControlAnswer | Promise<ControlAnswer>
}

/** A call such as `GET /faults/:name?hits&within`, with its documentation. */
export function route(target: string, doc: string, handle: Route['handle']): Route {
  const [, method = '', path = '', parameters] = /^(\w+) ?([^?]*)\??(.*)$/.exec(target) ?? []
  return { method, path, ...(parameters ? { parameters: parameters.split('&') } : {}), doc, handle }
}

/** An answer of one object. */
export function object(value: object, code = 200): ControlAnswer {
  return { kind: 'object', code, object: value }
}

/** The route of a call and the parts of its path; undefined if no route matches. Throws 405 for a wrong method. */
export function findRoute(routes: readonly Route[], call: ControlCall): { readonly route: Route; readonly call: RoutedCall } | undefined {
  const method = call.method === 'HEAD' ? 'GET' : call.method
  const found = routes.flatMap((route) => {
    const params = paramsOf(route.path, call.path)
    return params === undefined ? [] : [{ route, params }]
  })
  if (found.length === 0) return undefined
  const chosen = found.find(({ route }) => route.method === method)
  if (chosen === undefined) {
    const methods = [...new Set(found.map(({ route }) => route.method))].join(', ')
    throw failure(405, 'MethodNotAllowed', `${call.method} ${controlPath}${call.path}: expected one of ${methods}`)
  }
  return { route: chosen.route, call: { ...call, param: (name) => chosen.params.get(name) ?? '' } }
}

function paramsOf(pattern: string, path: string): ReadonlyMap<string, string> | undefined {
  const [wanted, parts] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== parts.length) return undefined
  const params = new Map<string, string>()
  for (const [index, part] of parts.entries()) {
    const name = wanted[index] ?? ''
    if (name.startsWith(':') && part !== '') params.set(name.slice(1), part)
    else if (name !== part) return undefined
  }
  return params
}

/** An error of the control, as a Status. */
export function failure(code: number, reason: string, message: string): StatusError {
  return new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code })
}

/** Like `asBadRequest`, for work that takes time. */
export async function awaitOrBadRequest<T>(at: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    return asBadRequest(at, () => {
      throw error
    })
  }
}

/** A 404 for an object that does not exist. */
export function unknownName(what: string, name: string, known: Iterable<string>): StatusError {
  const names = [...known]
  const list = names.length === 0 ? 'there is none' : `there are ${names.slice(0, shownNamesMax).join(', ')}`
  return failure(404, 'NotFound', `there is no ${what} ${JSON.stringify(name)}: ${list}`)
}

const shownNamesMax = 20

/** An integer from the query, within bounds. */
export function readCount(
  { query }: ControlCall,
  name: string,
  { otherwise, max }: { readonly otherwise: number; readonly max: number },
): number {
  const text = query.get(name)
  if (text === undefined) return otherwise
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value <= max)) throw badRequest(`${name}=${text}: must be a whole number from 0 to ${max}`)
  return value
}

/** `true` or `false` from the query; undefined if the parameter is missing. */
export function readFlag({ query }: ControlCall, name: string): boolean | undefined {
  const text = query.get(name)
  if (text === undefined || text === 'true' || text === 'false') return text === undefined ? undefined : text === 'true'
  throw badRequest(`${name}=${text}: must be true or false`)
}

/** Objects that a test has created through the control, by name. Too many give a 429. */
export class Named<T> {
  readonly #what: string
  readonly #max: number
  readonly #things = new Map<string, T>()
  #made = 0

  constructor(what: string, max: number) {
    this.#what = what
    this.#max = max
  }

  /** The default name of the next object. Throws if there are too many. */
  nextName(given?: string): string {
    if (this.#things.size >= this.#max)
      throw failure(429, 'TooManyRequests', `there are ${this.#max} of ${this.#what} already: remove some`)
    // Names are parts of paths.
    if (given !== undefined && !/^[A-Za-z0-9][\w.-]{0,62}$/.test(given))
      throw badRequest('name: must be 1 to 63 letters, digits, hyphens, underscores and dots, of which the first is a letter or a digit')
    if (given !== undefined && this.#things.has(given))
      throw failure(409, 'AlreadyExists', `there is a ${this.#what} ${JSON.stringify(given)} already`)
    if (given !== undefined) return given
    do this.#made += 1
    while (this.#things.has(`${this.#what}-${this.#made}`))
    return `${this.#what}-${this.#made}`
  }

  set(name: string, thing: T): void {
    this.#things.set(name, thing)
  }

  get(name: string): T {
    const thing = this.#things.get(name)
    if (thing === undefined) throw unknownName(this.#what, name, this.#things.keys())
    return thing
  }

  /** Removes an object and returns it. */
  take(name: string): T {
    const thing = this.get(name)
    this.#things.delete(name)
    return thing
  }

  entries(): [string, T][] {
    return [...this.#things]
  }

  clear(): void {
    this.#things.clear()
  }
}
