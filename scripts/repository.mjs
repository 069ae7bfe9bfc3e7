import { spawnSync } from 'node:child_process'

/**
 * The field `repository` of the published package, or undefined. npm compares it with the repository of the build from the CI service before it
 * publishes with provenance. So the manifest takes precedence, then the CI service, then the clone's `origin`.
 */
export function repositoryOf({ manifest, env, origin }) {
  if (manifest !== undefined) return manifest
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY, CI_PROJECT_URL } = env
  const ofBuild = GITHUB_SERVER_URL && GITHUB_REPOSITORY ? `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}` : CI_PROJECT_URL
  const url = publicUrl(ofBuild || origin || '')
  return url === undefined ? undefined : { type: 'git', url, directory: 'services/orch' }
}

/** The URL of a folder's remote `origin`; undefined without one. */
export function originOf(folder) {
  const { status, stdout } = spawnSync('git', ['remote', 'get-url', 'origin'], { cwd: folder, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

/**
 * A remote in npm's form: `git+https://host/owner/name.git`, without user and password. Undefined for a path, and for a host that is known only to this
 * machine or its network.
 */
function publicUrl(remote) {
  const short = /^(?:[^@/:]+@)?([^/:]+):(?!\/\/)(.+)$/.exec(remote)
  const { protocol, hostname, port, pathname } = parse(short === null ? remote : `ssh://${short[1]}/${short[2]}`) ?? {}
  if (!['https:', 'http:', 'ssh:', 'git:', 'git+https:', 'git+ssh:'].includes(protocol)) return undefined
  const isPublic = /^[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}$/i.test(hostname) && !/\.(local|localhost|internal|lan|test)$/i.test(hostname)
  const path = pathname.replace(/^\/+|\/+$|\.git\/*$/g, '')
  if (!isPublic || path === '') return undefined
  // The port of another protocol is not the port of HTTPS.
  const place = port !== '' && /https:$/.test(protocol) ? `${hostname}:${port}` : hostname
  return `git+https://${place}/${path}.git`
}

function parse(text) {
  return URL.canParse(text) ? new URL(text) : undefined
}
