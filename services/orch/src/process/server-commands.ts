/** The commands that start servers: they run until a signal ends them. */
export const serverCommandNames = ['up', 'gateway', 'storage', 'watch', 'admission', 'controllers', 'nodes', 'backends'] as const

/** Returns true if the first argument of the process names a server. */
export function isServerCommand(command: string | undefined): boolean {
  return serverCommandNames.some((name) => name === command)
}
