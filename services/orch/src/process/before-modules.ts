import { enableCompileCache, registerHooks } from 'node:module'

/** The commands that start servers: they run until a signal ends them. */
export const serverCommandNames = ['up', 'gateway', 'storage', 'watch', 'admission', 'controllers', 'nodes', 'backends'] as const

/** Returns true if the first argument of the process names a server. */
export function isServerCommand(command: string | undefined): boolean {
  return serverCommandNames.some((name) => name === command)
}

/**
 * Shortens the load of the entry's modules. Node looks at several files for each import, and a bundle has hundreds of imports; the files below the
 * folder of the entry are modules, and no links.
 */
export function loadFast(entry: string): void {
  enableCompileCache()
  const folder = new URL('.', entry).href
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier.startsWith('./') && specifier.endsWith('.js') && context.parentURL?.startsWith(folder) === true
        ? { url: new URL(specifier, context.parentURL).href, format: 'module', shortCircuit: true }
        : next(specifier, context),
  })
}
