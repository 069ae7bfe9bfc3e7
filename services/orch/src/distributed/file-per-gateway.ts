import { basename, dirname, extname, join } from 'node:path'

/**
 * The file of one of several gateways, since two processes cannot set aside the same one.
 *
 *   audit.log of gateway 1 → audit-gateway-1.log        - stays: standard output is shared by lines
 */
export function filePerGateway(path: string, index: number): string {
  if (path === '' || path === '-') return path
  const extension = extname(path)
  return join(dirname(path), `${basename(path, extension)}-gateway-${index}${extension}`)
}
