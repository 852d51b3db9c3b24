# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0
# What an application on Rack (Rails, Sinatra, Hanami) says to mod_vault and hears from it, in one file. See README.md.
require 'digest'
require 'json'
require 'net/http'

# One request and its answer. What it reads is httpd's word only behind httpd with mod_vault, which removes such headers of browsers.
class ModVault
  # Where httpd has mod_vault's own URLs.
  URL = 'http://127.0.0.1/vault'

  # Of Rack: `use ModVault::Middleware`, and then env['mod_vault'] is the ModVault of each request. Options as of ModVault.
  class Middleware
    def initialize(app, **options)
      @app = app
      @options = options
    end

    def call(env)
      vault = env['mod_vault'] = ModVault.new(env, **@options)
      status, headers, body = @app.call(env)
      [status, headers.merge(vault.headers), body]
    end
  end

  # key: the line of the file that VaultFeedKeyFile names; needed by feed() alone. url: where feed() asks. At an address of this machine it
  # gives the host of the request, by which httpd finds the site; a site that has TLS alone is asked by its own name,
  # https://www.example.org/vault.
  def initialize(env, key: '', url: URL)
    @env = env
    @key = key
    @url = url
    @set = {}
    @said = Hash.new { |said, name| said[name] = [] }
  end

  # The id of the page that this runs for or that sent this request; nil: no page. It is a secret of the visitor.
  def page = @env['HTTP_VAULT_PAGE']&.split(';')&.first

  # A property of the page, or what []= has made of it in this request; nil: the page has none of that name.
  def [](key)
    name = ModVault.key(key)
    return @set[name] if @set.key?(name)

    @env["HTTP_VAULT_PROPERTY_#{name.upcase.tr('-', '_')}"]&.b&.gsub(/%(\h\h)/) { $1.hex.chr }&.force_encoding('UTF-8')&.scrub
  end

  # Keep a value for the page; nil or '' removes it. The key is made of letters, digits and hyphens, in any case.
  def []=(key, value)
    text = value.to_s
    raise ArgumentError, "the value of the property #{key} has a NUL in it" if text.include?("\0")

    @set[ModVault.key(key)] = text.empty? ? nil : text
    @said['vault-property'] << "#{ModVault.key(key)}=#{ModVault.encode(text)}"
  end

  # Rows of a feed for this page, which httpd keeps the place of: a first view in the page's own answer, and from then on what is new. No
  # interest() is needed. A hash among the arguments is what a dot makes by URL: where: { status: 404 }. A method of which this raises must
  # answer with an error, and is tried again. The same call may be made once in an answer.
  # Two values: the rows, nil: nothing is new; and whether they take the place of all that is shown.
  def feed(name, method, arguments = {})
    page = @env['HTTP_VAULT_PAGE'] || @env['HTTP_VAULT_NEW_PAGE']
    headers = { 'Authorization' => "Bearer #{@key}", 'Vault-Page' => page }
    headers['Host'] = @env['HTTP_HOST'] if @url.match?(%r{\Ahttp://(127\.|localhost\b|\[::1\])})
    answer, rows = ModVault.post("#{@url}/feed/#{name}/#{method}", ModVault.fields(arguments), headers.compact)
    return [rows, answer['vault-rows'] != 'new'] if %w[200 204].include?(answer.code)

    raise "#{@url}/feed/#{name}/#{method}: status #{answer.code}, #{ModVault.reason(rows)}"
  end

  # This page asks a URL of its own site for news: a path that begins with a slash.
  def poll(url) = @said['vault-poll'] << ModVault.path(url)

  # In the place of poll, for a page whose HTML names a client of its own, Turbo's or htmx's: it asks a URL of its site for news, and mod_vault
  # puts no script in. Where the news will come as a stream, for the HTML to say; nil: the answer cannot become a page.
  def stream(url)
    @said['vault-stream'] << ModVault.path(url)
    @env['HTTP_VAULT_STREAM']
  end

  # The URL that answers this runs again when one of these is notified. To be said in each answer, also in an empty one.
  def interest(*names) = @said['vault-interest'].concat(names.map { |name| ModVault.interest_name(name) })

  # Something happened: pages that wait for one of these look again. Say it after the commit, in an answer of any status.
  def notify(*names) = @said['vault-notify'].concat(names.map { |name| ModVault.interest_name(name) })

  # Does the page show anything else under this key? Keeps the hash of content as the property of that name. The page's own answer
  # calls it as well, so that its first poll repeats nothing.
  def changed?(key, content)
    hash = Digest::SHA256.hexdigest(content)[0, 32]
    before = self[key]
    self[key] = hash
    before != hash
  end

  # What has been said, as the middleware puts it into the answer.
  def headers = @said.transform_values { |values| values.join(', ') }

  # Notify at once, from a program that answers no request: a job, a rake task. url/notify has the handler vault-notify, which lets in this
  # machine alone (Require vault-local). True: a page waits for it, or may; false: no page does. Raises when pages were not told.
  def self.notify(name, url: URL)
    interest_name(name)
    answer, said = post("#{url}/notify", { interest: name })
    return said.fetch('held', true) if %w[200 202].include?(answer.code) && said.is_a?(Hash)

    raise "#{url} did not notify \"#{name}\": status #{answer.code}, #{reason(said)}"
  end

  # POST a form. The answer, and its body where that is JSON.
  def self.post(url, form, headers = {})
    uri = URI(url)
    answer = Net::HTTP.start(uri.host, uri.port, use_ssl: uri.scheme == 'https', open_timeout: 5, read_timeout: 5) do |http|
      http.post(uri.request_uri, URI.encode_www_form(form), { 'Content-Type' => 'application/x-www-form-urlencoded' }.merge(headers))
    end
    [answer, (JSON.parse(answer.body) if answer.body.to_s.match?(/\A[\[{]/))]
  end

  def self.reason(said) = (said['error'] if said.is_a?(Hash)) || 'the answer is not from mod_vault'

  def self.fields(arguments, before = '')
    arguments.flat_map do |name, value|
      raise ArgumentError, "the argument #{before}#{name} of a feed is nil, which a form cannot say" if value.nil?

      value.is_a?(Hash) ? fields(value, "#{before}#{name}.") : [["#{before}#{name}", value.to_s]]
    end
  end

  # Percent-encode what `unsafe` matches, or what would be taken for a part of the header.
  def self.encode(text, unsafe = /[^\x21-\x7e]|[,%]/n) = text.b.gsub(unsafe) { |byte| format('%%%02X', byte.ord) }

  def self.path(url)
    return encode(url, /[^\x21-\x7e]|,/n) if url.start_with?('/')

    raise ArgumentError, "a page polls a path of its own site, which begins with a slash: #{url}"
  end

  def self.interest_name(name)
    return encode(name) if name.bytesize.between?(1, 200) && !name.include?("\0")

    raise ArgumentError, "the name of an interest has 1 to 200 bytes, and no NUL: #{name}"
  end

  def self.key(key)
    return key.to_s.downcase if key.to_s.match?(/\A[A-Za-z0-9-]+\z/)

    raise ArgumentError, "the key of a property is made of letters, digits and hyphens: #{key}"
  end
end
