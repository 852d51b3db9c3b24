<?php
// SPDX-License-Identifier: Apache-2.0
// The live log page in PHP. LOG, by SetEnv, names the file. VaultSameOrigin On, in httpd, refuses forms of other sites.

// The lines after the place $from, as HTML, and the place behind them.
function lines($from)
{
    $text = is_file($_SERVER['LOG']) ? file_get_contents($_SERVER['LOG'], false, null, $from) : '';
    $text = substr($text, 0, (int)strrpos("\n$text", "\n")); // another process may be writing the last line
    $html = '';
    foreach (array_slice(explode("\n", $text), 0, -1) as $line) {
        $html .= '<li>' . htmlspecialchars($line, ENT_NOQUOTES | ENT_SUBSTITUTE) . "</li>\n";
    }
    return [$html, $from + strlen($text)];
}

$path = $_SERVER['PATH_INFO'] ?? '/';
header('Content-Type: text/html; charset=utf-8');
if ($path === '/') {
    [$lines, $place] = lines(0);
    header("Vault-Poll: {$_SERVER['SCRIPT_NAME']}/latest");
    header("Vault-Property: place=$place");
    echo "<!doctype html>\n<html><head><title>Log</title></head>\n<body><ul id=\"log\">\n$lines</ul>\n",
        '<form method="post" action="add"><input name="line"><button>Add</button></form></body></html>', "\n";
} elseif ($path === '/latest') {
    [$lines, $place] = lines((int)($_SERVER['HTTP_VAULT_PROPERTY_PLACE'] ?? 0));
    header('Vault-Interest: log');
    header("Vault-Property: place=$place");
    if ($lines !== '') {
        echo "<turbo-stream action=\"append\" target=\"log\"><template>$lines</template></turbo-stream>\n";
    }
} elseif ($path === '/add' && $_SERVER['REQUEST_METHOD'] === 'POST') {
    $line = $_POST['line'] ?? '';
    if (!is_string($line) || $line === '') {
        http_response_code(400);
        echo "no line in the form\n";
    } elseif (@file_put_contents($_SERVER['LOG'], preg_replace('/[\r\n]+/', ' ', $line) . "\n", FILE_APPEND) === false) {
        http_response_code(500);
        echo "the log cannot be written\n";
    } else {
        header('Vault-Notify: log');
        header('Location: ./', true, 303);
    }
} else {
    http_response_code(404);
    echo "no such page\n";
}
