import { notAcceptable } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { printYaml } from '@orch/core/yaml'
import type { Clock } from '@orch/platform'
import { mediaTypeOf } from '../exchange/exchange.ts'
import { pageNotFound } from '../request/respond.ts'
import type { VersionInfo } from '../server/version-info.ts'
import type { Surroundings } from '../surroundings.ts'
import { bytesResponse, type DocumentHandler, type DocumentResponse, plainText, type RouteContext } from './document.ts'

/** The dependencies of pages about the server. */
export interface ZPageParts extends Pick<Surroundings, 'names' | 'isGateOn'> {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** On the monotonic clock. */
  readonly createdMs: number
  readonly version: VersionInfo
  /** Every flag of the process with its value; without it the page does not exist. */
  readonly flags: ReadonlyMap<string, string> | undefined
}

/** Versions of the structured forms, newest first. */
const versions = ['v1beta1', 'v1alpha1']
const mediaTypes = ['application/json', 'application/yaml'] as const

/** The requested structured form. */
interface Asked {
  readonly mediaType: (typeof mediaTypes)[number]
  readonly version: string
}

const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

/** `/statusz`: the start time of the server, its versions, and its non-resource paths, as text or as a Statusz. */
export function statuszRoute<Parts extends ZPageParts>(pathsOf: (parts: Parts) => readonly string[]): DocumentHandler<Parts> {
  return (context) => {
    const { parts } = context
    if (!parts.isGateOn('ComponentStatusz')) throw pageNotFound()
    const { names, version, clock, createdMs } = parts
    const upSeconds = Math.floor((clock.monotonic() - createdMs) / 1000)
    const started = new Date(clock.now() - upSeconds * 1000)
    const binary = `${version.major}.${version.minor}`
    const emulation = version.emulationMinor === undefined ? binary : `${version.emulationMajor}.${version.emulationMinor}`
    const paths = debuggingPaths(pathsOf(parts))
    const asked = negotiate(context, 'Statusz', names)
    if (asked !== undefined) {
      return structured(context, asked, 'Statusz', {
        startTime: `${started.toISOString().slice(0, 19)}Z`,
        uptimeSeconds: upSeconds,
        goVersion: version.goVersion,
        binaryVersion: binary,
        emulationVersion: emulation,
        paths,
      })
    }
    return textOf([
      `${names.serverComponent} statusz`,
      warning,
      '',
      `Started: ${unixDate(started)}`,
      `Up: ${uptime(upSeconds)}`,
      `Go version: ${version.goVersion}`,
      `Binary version: ${binary}`,
      `Emulation version: ${emulation}`,
      `Paths: ${paths.join(' ')}`,
    ])
  }
}

/** `/flagz`: every flag with its value, as text or as a Flagz. */
export const flagzRoute: DocumentHandler<ZPageParts> = (context) => {
  const { names, flags, isGateOn } = context.parts
  if (flags === undefined || !isGateOn('ComponentFlagz')) throw pageNotFound()
  const sorted = [...flags].sort(([one], [other]) => (one < other ? -1 : 1))
  const asked = negotiate(context, 'Flagz', names)
  if (asked !== undefined) return structured(context, asked, 'Flagz', { flags: Object.fromEntries(sorted) })
  return textOf([`${names.serverComponent} flagz`, warning, '', ...sorted.map(([flag, text]) => `${flag}=${text}`)])
}

/** The requested structured form; undefined for text. */
function negotiate({ request }: RouteContext<ZPageParts>, kind: string, names: Names): Asked | undefined {
  const accept = request.exchange.header('accept') ?? ''
  if (accept.trim() === '') return undefined
  for (const clause of accept.split(',')) {
    const type = mediaTypeOf(clause)
    if (type === '*/*' || type === 'text/*' || type === 'text/plain') return undefined
    const parameters = new Map(
      clause
        .split(';')
        .slice(1)
        .map((one): [string, string] => [one.split('=')[0]?.trim() ?? '', one.split('=')[1]?.trim() ?? '']),
    )
    const isAsked = parameters.get('as') === kind && parameters.get('g') === domainGroup(names, 'config')
    const version = versions.find((one) => one === parameters.get('v'))
    const mediaType = mediaTypes.find((one) => one === type)
    if (mediaType !== undefined && isAsked && version !== undefined) return { mediaType, version }
  }
  throw notAcceptable([...mediaTypes, 'text/plain'])
}

function structured(
  { request, parts }: RouteContext<ZPageParts>,
  { mediaType, version }: Asked,
  kind: string,
  body: object,
): DocumentResponse {
  const { names } = parts
  const group = domainGroup(names, 'config')
  if (version !== versions[0]) {
    request.warn(`This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version.`)
  }
  const object = { kind, apiVersion: `${group}/${version}`, metadata: { name: names.serverComponent }, ...body }
  const text = mediaType === 'application/json' ? JSON.stringify(object) : printYaml(object)
  return bytesResponse(Buffer.from(text), { 'content-type': `${mediaType};g=${group};v=${version};as=${kind}` })
}

function textOf(lines: readonly string[]): DocumentResponse {
  return bytesResponse(Buffer.from(`\n${lines.join('\n')}\n`), { 'content-type': plainText, 'x-content-type-options': 'nosniff' })
}

/** The first parts of paths, without those of resources and their documents. */
function debuggingPaths(paths: readonly string[]): string[] {
  const others = new Set(['/', '/api', '/apis', '/openid', '/openapi', '/.well-known'])
  return [...new Set(paths.map((path) => `/${path.split('/')[1]}`))].filter((path) => !others.has(path)).sort()
}

/** `Wed Oct 16 21:03:43 UTC 2024`. */
function unixDate(date: Date): string {
  const [day = '', dayOfMonth = '', month = '', year = '', time = ''] = date.toUTCString().replace(',', '').split(' ')
  return `${day} ${month} ${dayOfMonth.replace(/^0/, ' ')} ${time} UTC ${year}`
}

/** `0 hr 00 min 16 sec`. */
function uptime(seconds: number): string {
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')
  return `${Math.floor(seconds / 3600)} hr ${two((seconds / 60) % 60)} min ${two(seconds % 60)} sec`
}
