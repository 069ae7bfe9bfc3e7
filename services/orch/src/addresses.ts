/** True for addresses that only this machine can reach. */
export function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}
