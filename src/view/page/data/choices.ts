/** Stored choices, such as the colors. A browser may refuse to store them, above all for a page from disk. */

export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Then the choice lasts as long as the page.
  }
}
